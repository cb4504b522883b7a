import com.example.cdr.CallRecord
import com.example.cdr.MOCall
import io.tercet.runtime.Asn1Exception
import io.tercet.runtime.Limits
import io.tercet.runtime.Octets
import io.tercet.runtime.Rules
import java.nio.file.Files
import java.nio.file.Path

/** Describes a record. There is no `else`: the compiler knows all alternatives. */
fun describe(record: CallRecord): String =
    when (record) {
        is CallRecord.MoCall -> "call of ${record.value.duration} s by ${equipment(record.value)}"
        is CallRecord.MtCall -> "call taken for ${record.value.duration} s"
        is CallRecord.Sms -> if (record.value.originating) "message sent" else "message received"
        is CallRecord.Data -> "data in ${record.value.volumes.size} parts"
        is CallRecord.Unknown -> "a record of a later version"
    }

/** The components of a record are properties, and one that may be absent has a type with a question mark. */
fun equipment(call: MOCall): String {
    val imei: Octets? = call.servedIMEI
    return imei?.toHex() ?: "equipment without a number"
}

fun main(arguments: Array<String>) {
    val octets = Files.readAllBytes(Path.of(arguments[0]))
    var at = 0
    try {
        while (at < octets.size) {
            val decoded = CallRecord.TYPE.decodePrefix(Rules.BER, octets, at, octets.size - at, Limits.DEFAULT)
            println(describe(decoded.value))
            at += decoded.length
        }
    } catch (fault: Asn1Exception) {
        println("${fault.kind()} at ${fault.path()}")
    }
}
