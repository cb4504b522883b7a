import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Asn1Type;
import io.tercet.runtime.Decoded;
import io.tercet.runtime.Encoder;
import io.tercet.runtime.Limits;
import io.tercet.runtime.Octets;
import io.tercet.runtime.Rules;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads and writes again what it is given: in each line the number of a type, that of the rules, an encoding, and the number of the
 * rules to write it by if these are others. An empty line asks for the answers so far.
 */
final class Again {
    private Again() {}

    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            if (line.isEmpty()) {
                out.flush();
                continue;
            }
            String[] words = line.split(" ", -1);
            int number = Integer.parseInt(words[1]);
            boolean isForeign = number >= Roots.FOREIGN;
            Rules first = rules(number - (isForeign ? Roots.FOREIGN : 0));
            Rules read = isForeign ? Rules.BER : first;
            Rules written = words.length > 3 ? rules(Integer.parseInt(words[3])) : first;
            String answer;
            try {
                answer = again(Roots.TYPES.get(Integer.parseInt(words[0])), read, written, words[2]);
            } catch (RuntimeException | Error fault) {
                answer = "thrown " + fault.toString().replace(' ', '_');
            }
            out.println(answer);
        }
        out.flush();
    }

    private static Rules rules(int number) {
        return Roots.RULES.get(Roots.NUMBERS.indexOf(number));
    }

    private static <T> String again(Asn1Type<T> type, Rules read, Rules written, String hex) {
        byte[] input = Octets.ofHex(hex).toByteArray();
        Decoded<T> decoded;
        try {
            // Not at the start of its array, which must make no difference.
            byte[] shifted = new byte[input.length + 7];
            System.arraycopy(input, 0, shifted, 3, input.length);
            decoded = type.decodePrefix(read, shifted, 3, input.length, Limits.DEFAULT);
        } catch (Asn1Exception fault) {
            return told("read", fault);
        }
        T value = decoded.value();
        try {
            byte[] again = type.encode(written, value);
            if (read == written && (written.isCanonical() || written == Rules.JER)) {
                T same = type.decodePrefix(written, again, 0, again.length, Limits.DEFAULT).value();
                if (!same.equals(value) || same.hashCode() != value.hashCode()) {
                    return "differs " + value + " and " + same;
                }
                value.toString();
            }
            Encoder encoder = new Encoder(written);
            encoder.encode(type, value);
            if (!encoder.encode(type, value).equals(Octets.of(again))) {
                return "differs from what an encoder writes twice";
            }
            return "ok " + decoded.length() + " " + Octets.of(again).toHex();
        } catch (Asn1Exception fault) {
            return told("write", fault);
        }
    }

    private static String told(String work, Asn1Exception fault) {
        fault.getMessage();
        String detail = fault.line() > 0 ? "\t" + fault.detail() : "";
        return work + " " + fault.kind().label() + " " + fault.offset() + " " + Math.max(fault.bit(), 0) + " " + fault.path() + detail;
    }
}
