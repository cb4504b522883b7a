// UnboundID LDAP SDK: HOST PORT discard|ldif. Entries come to a listener. Five searches warm the machine up; what the
// sixth takes is said on the error channel, so that nobody counts the start of Java.
import com.sun.management.OperatingSystemMXBean;
import com.unboundid.ldap.sdk.LDAPConnection;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchResultListener;
import com.unboundid.ldap.sdk.SearchResultReference;
import com.unboundid.ldap.sdk.SearchScope;
import com.unboundid.ldif.LDIFWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;

final class Client {
    private static final int WARM = 5;

    public static void main(String[] arguments) throws Exception {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        PrintStream out = System.out;
        try (LDAPConnection connection = new LDAPConnection(arguments[0], Integer.parseInt(arguments[1]))) {
            for (int round = 0; round <= WARM; round++) {
                boolean last = round == WARM;
                long cpu = system.getProcessCpuTime();
                long wall = System.nanoTime();
                long count = search(connection, arguments[2].equals("ldif"), last ? out : OutputStream.nullOutputStream());
                if (last) {
                    cpu = system.getProcessCpuTime() - cpu;
                    System.err.println("cpu " + cpu + " wall " + (System.nanoTime() - wall));
                    if (arguments[2].equals("discard")) {
                        out.println(count);
                    }
                }
            }
        }
    }

    private static long search(LDAPConnection connection, boolean text, OutputStream out) throws Exception {
        long[] count = new long[1];
        try (LDIFWriter writer = new LDIFWriter(new Open(out))) {
            SearchResultListener listener = new SearchResultListener() {
                @Override
                public void searchEntryReturned(SearchResultEntry entry) {
                    count[0]++;
                    if (text) {
                        try {
                            writer.writeEntry(entry);
                        } catch (IOException error) {
                            throw new RuntimeException(error);
                        }
                    }
                }

                @Override
                public void searchReferenceReturned(SearchResultReference reference) {}
            };
            connection.search(new SearchRequest(listener, "o=test", SearchScope.SUB, "(objectClass=*)"));
        }
        return count[0];
    }

    /** A stream that stays open when the writer is closed. */
    private static final class Open extends OutputStream {
        private final OutputStream out;

        Open(OutputStream out) {
            this.out = out;
        }

        @Override
        public void write(int octet) throws IOException {
            out.write(octet);
        }

        @Override
        public void write(byte[] octets, int from, int count) throws IOException {
            out.write(octets, from, count);
        }

        @Override
        public void close() throws IOException {
            out.flush();
        }
    }
}
