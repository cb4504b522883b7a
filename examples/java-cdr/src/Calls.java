import com.example.cdr.CallRecord;
import io.tercet.records.CsvWriter;
import io.tercet.records.FileRecord;
import io.tercet.records.RecordReader;
import io.tercet.runtime.Asn1Exception;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Prints how many records of each kind a file contains, and the seconds of all calls. With a second argument, writes the records
 * there as CSV.
 */
final class Calls {
    private Calls() {}

    public static void main(String[] arguments) throws IOException, Asn1Exception {
        int calls = 0;
        int others = 0;
        long seconds = 0;
        try (RecordReader<CallRecord> records = RecordReader.of(CallRecord.TYPE)
                .rejects(reject -> System.err.println(reject))
                .open(Path.of(arguments[0]))) {
            for (FileRecord<CallRecord> record : records) {
                if (record.value() instanceof CallRecord.MoCall call) {
                    calls++;
                    seconds += call.value().duration();
                } else if (record.value() instanceof CallRecord.MtCall call) {
                    calls++;
                    seconds += call.value().duration();
                } else {
                    others++;
                }
            }
            System.out.println(calls + " calls of " + seconds + " seconds, " + others + " other records");
            System.out.println(records.balance());
        }
        if (arguments.length > 1) {
            csv(Path.of(arguments[0]), Path.of(arguments[1]));
        }
    }

    private static void csv(Path input, Path output) throws IOException, Asn1Exception {
        try (RecordReader<CallRecord> records = RecordReader.of(CallRecord.TYPE).rejects(reject -> {}).open(input);
                CsvWriter<CallRecord> rows = new CsvWriter<>(CallRecord.TYPE, Files.newOutputStream(output))) {
            for (FileRecord<CallRecord> record : records) {
                rows.write(record.value());
            }
        }
    }
}
