import com.beanit.asn1bean.ber.ReverseByteArrayOutputStream;
import com.beanit.asn1bean.ber.types.BerType;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The runner protocol (see ../python_runner.py) for classes that asn1bean makes of a specification. What was decoded is
 * told by what it is encoded to. The just-in-time compiler gets a few seconds before anything is measured.
 */
final class Runner {
    private static final double WARM_UP = 3;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final List<byte[]> records = new ArrayList<>();
    private final List<BerType> values = new ArrayList<>();
    private final ReverseByteArrayOutputStream out = new ReverseByteArrayOutputStream(1 << 16, true);
    private final Supplier<BerType> make;
    private final boolean encodes;
    private long octets;
    private long kept;

    private Runner(Supplier<BerType> make, Map<String, String> config) throws IOException {
        this.make = make;
        encodes = config.get("op").equals("encode");
        int limit = Integer.parseInt(config.getOrDefault("limit", "0"));
        ByteBuffer data = ByteBuffer.wrap(Files.readAllBytes(Paths.get(config.get("records"))));
        while (data.remaining() >= 4 && (limit == 0 || records.size() < limit)) {
            byte[] record = new byte[data.getInt()];
            data.get(record);
            records.add(record);
            values.add(decode(record));
            octets += record.length;
        }
    }

    private BerType decode(byte[] record) throws IOException {
        BerType value = make.get();
        value.decode(new ByteArrayInputStream(record));
        return value;
    }

    private byte[] encode(BerType value) throws IOException {
        out.reset();
        value.encode(out);
        return out.getArray();
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) THREADS).getCurrentThreadAllocatedBytes();
    }

    private String run(double seconds) throws IOException {
        long limit = (long) (seconds * 1e9);
        long before = allocated();
        long start = THREADS.getCurrentThreadCpuTime();
        long passes = 0;
        long spent;
        do {
            if (encodes) {
                for (BerType value : values) {
                    out.reset();
                    kept += value.encode(out);
                }
            } else {
                for (byte[] record : records) {
                    kept += decode(record).hashCode();
                }
            }
            passes++;
            spent = THREADS.getCurrentThreadCpuTime() - start;
        } while (spent < limit);
        long count = passes * records.size();
        return String.format(
                "{\"records\": %d, \"octets\": %d, \"ns\": %d, \"allocated\": %d}", count, passes * octets, spent, (allocated() - before) / count);
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Map<String, String> config = new HashMap<>();
        String line;
        while ((line = in.readLine()) != null && !line.equals("go")) {
            int space = line.indexOf(' ');
            config.put(line.substring(0, space), line.substring(space + 1));
        }
        Runner runner;
        try {
            runner = new Runner(Root.of(arguments[0]), config);
            runner.run(WARM_UP);
        } catch (Exception error) {
            String text = String.valueOf(error).replaceAll("[\\\\\"\\p{Cntrl}]", " ");
            say("{\"ready\": false, \"error\": \"" + text + "\"}");
            return;
        }
        String name = "asn1bean 1.14.0, Java " + Runtime.version().feature();
        say("{\"ready\": true, \"name\": \"" + name + "\", \"records\": " + runner.records.size() + "}");
        while ((line = in.readLine()) != null) {
            String[] words = line.split(" ");
            if (words[0].equals("run")) {
                say(runner.run(Double.parseDouble(words[1])));
            } else if (words[0].equals("dump")) {
                int count = Math.min(Integer.parseInt(words[1]), runner.values.size());
                for (BerType value : runner.values.subList(0, count)) {
                    StringBuilder hex = new StringBuilder();
                    for (byte octet : runner.encode(value)) {
                        hex.append(String.format("%02x", octet));
                    }
                    say("{\"hex\": \"" + hex + "\"}");
                }
                say("{\"end\": true}");
            } else {
                return;
            }
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
