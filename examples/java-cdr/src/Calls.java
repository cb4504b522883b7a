import com.example.cdr.CallRecord;
import io.tercet.runtime.Asn1Exception;
import io.tercet.runtime.Decoded;
import io.tercet.runtime.Limits;
import io.tercet.runtime.Rules;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Prints how many records of each kind a file contains, and the seconds of all calls. */
final class Calls {
    private Calls() {}

    public static void main(String[] arguments) throws IOException {
        byte[] file = Files.readAllBytes(Path.of(arguments[0]));
        int calls = 0;
        int others = 0;
        long seconds = 0;
        int position = 0;
        while (position < file.length) {
            Decoded<CallRecord> decoded;
            try {
                decoded = CallRecord.TYPE.decodePrefix(Rules.BER, file, position, file.length - position, Limits.DEFAULT);
            } catch (Asn1Exception fault) {
                System.err.println("record at byte " + position + ": " + fault.getMessage());
                System.exit(1);
                return;
            }
            position += decoded.length();
            if (decoded.value() instanceof CallRecord.MoCall call) {
                calls++;
                seconds += call.value().duration();
            } else if (decoded.value() instanceof CallRecord.MtCall call) {
                calls++;
                seconds += call.value().duration();
            } else {
                others++;
            }
        }
        System.out.println(calls + " calls of " + seconds + " seconds, " + others + " other records");
    }
}
