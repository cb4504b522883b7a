import com.example.cdr.CallRecord
import com.example.cdr.MOCall

/** Does not compile: the number of the equipment may be absent. */
fun digits(call: MOCall): Int = call.servedIMEI.length()

/** Does not compile: three alternatives are missing. */
fun isCall(record: CallRecord): Boolean =
    when (record) {
        is CallRecord.MoCall -> true
        is CallRecord.MtCall -> true
    }
