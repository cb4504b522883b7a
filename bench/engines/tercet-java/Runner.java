import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Asn1Type;
import io.tercet.runtime.Encoder;
import io.tercet.runtime.Limits;
import io.tercet.runtime.Rules;
import java.io.BufferedReader;
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
import java.util.Locale;
import java.util.Map;

/**
 * The runner protocol (see ../python_runner.py) for classes that `tercet compile --language java` makes of a specification. What
 * was decoded is told by what it is encoded to. The just-in-time compiler gets a few seconds before anything is measured.
 */
final class Runner<T> {
    private static final double WARM_UP = 3;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final List<byte[]> records = new ArrayList<>();
    private final List<T> values = new ArrayList<>();
    private final Asn1Type<T> type;
    private final Rules rules;
    private final Encoder encoder;
    private final boolean encodes;
    private long octets;
    private long kept;

    private Runner(Asn1Type<T> type, Map<String, String> config) throws IOException, Asn1Exception {
        this.type = type;
        rules = Rules.valueOf(config.get("rules").toUpperCase(Locale.ROOT).replace('-', '_'));
        encoder = new Encoder(rules);
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

    private T decode(byte[] record) throws Asn1Exception {
        return type.decodePrefix(rules, record, 0, record.length, Limits.DEFAULT).value();
    }

    private static long allocated() {
        return ((com.sun.management.ThreadMXBean) THREADS).getCurrentThreadAllocatedBytes();
    }

    private String run(double seconds) throws Asn1Exception {
        long limit = (long) (seconds * 1e9);
        long before = allocated();
        long start = THREADS.getCurrentThreadCpuTime();
        long passes = 0;
        long spent;
        do {
            if (encodes) {
                for (T value : values) {
                    kept += encoder.encode(type, value).length();
                }
            } else {
                for (byte[] record : records) {
                    kept += System.identityHashCode(decode(record));
                }
            }
            passes++;
            spent = THREADS.getCurrentThreadCpuTime() - start;
        } while (spent < limit);
        long count = passes * records.size();
        return String.format(
                "{\"records\": %d, \"octets\": %d, \"ns\": %d, \"allocated\": %d}", count, passes * octets, spent, (allocated() - before) / count);
    }

    public static void main(String[] arguments) throws IOException, Asn1Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Map<String, String> config = new HashMap<>();
        String line;
        while ((line = in.readLine()) != null && !line.equals("go")) {
            int space = line.indexOf(' ');
            config.put(line.substring(0, space), line.substring(space + 1));
        }
        Runner<?> runner;
        try {
            runner = new Runner<>(Root.of(arguments[0]), config);
            runner.run(WARM_UP);
        } catch (Exception error) {
            String text = String.valueOf(error).replaceAll("[\\\\\"\\p{Cntrl}]", " ");
            say("{\"ready\": false, \"error\": \"" + text + "\"}");
            return;
        }
        String name = "tercet-java, Java " + Runtime.version().feature();
        say("{\"ready\": true, \"name\": \"" + name + "\", \"records\": " + runner.records.size() + "}");
        while ((line = in.readLine()) != null) {
            String[] words = line.split(" ");
            if (words[0].equals("run")) {
                say(runner.run(Double.parseDouble(words[1])));
            } else if (words[0].equals("dump")) {
                runner.dump(Integer.parseInt(words[1]));
                say("{\"end\": true}");
            } else {
                return;
            }
        }
    }

    private void dump(int count) throws Asn1Exception {
        for (T value : values.subList(0, Math.min(count, values.size()))) {
            say("{\"hex\": \"" + encoder.encode(type, value).toHex() + "\"}");
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
