package io.tercet.runtime;

/** The kind of a fault. Names and codes are those of every other interface of Tercet, and stable. */
public enum ErrorKind {
    /** The text is not a value of the type; {@link Asn1Exception#detail()} has what is wrong. */
    TEXT(0, "text", null, "the text is not a value of the type"),
    /** The input ends inside an element. */
    INCOMPLETE(1, "incomplete", null, "the input ends inside an element"),
    /** An element reaches past the end of the one around it. */
    BEYOND_PARENT(2, "beyond-parent", "X.690 8.1.3", "an element reaches past the end of the one around it"),
    /** Bytes follow after the end of the value. */
    TRAILING_DATA(3, "trailing-data", null, "bytes follow after the end of the value"),
    /** A tag number below 31 is in the long form. */
    TAG_LONG_FORM(10, "tag-long-form", "X.690 8.1.2.2", "a tag number below 31 is in the long form"),
    /** A tag number starts with a zero septet. */
    TAG_LEADING_ZERO(11, "tag-leading-zero", "X.690 8.1.2.4.2", "a tag number starts with a zero septet"),
    /** A tag number is 2^29 or more. */
    TAG_TOO_LARGE(12, "tag-too-large", null, "a tag number is 2^29 or more"),
    /** The element has another tag than the type. */
    TAG_MISMATCH(13, "tag-mismatch", null, "the element has another tag than the type"),
    /** The element is constructed where the type is primitive. */
    PRIMITIVE_EXPECTED(14, "primitive-expected", "X.690 8.1.2.5", "the element is constructed where the type is primitive"),
    /** The element is primitive where the type is constructed. */
    CONSTRUCTED_EXPECTED(15, "constructed-expected", "X.690 8.1.2.5", "the element is primitive where the type is constructed"),
    /** The length starts with the reserved octet FF. */
    LENGTH_RESERVED(20, "length-reserved", "X.690 8.1.3.5", "the length starts with the reserved octet FF"),
    /** The length is larger than any input. */
    LENGTH_TOO_LARGE(21, "length-too-large", null, "the length is larger than any input"),
    /** The length is not in the fewest octets. */
    LENGTH_NOT_MINIMAL(22, "length-not-minimal", "X.690 10.1", "the length is not in the fewest octets"),
    /** A primitive element has an indefinite length. */
    INDEFINITE_PRIMITIVE(23, "indefinite-primitive", "X.690 8.1.3.2", "a primitive element has an indefinite length"),
    /** DER allows no indefinite length. */
    INDEFINITE_FORBIDDEN(24, "indefinite-forbidden", "X.690 10.1", "DER allows no indefinite length"),
    /** CER asks for the indefinite length in constructed elements. */
    DEFINITE_FORBIDDEN(25, "definite-forbidden", "X.690 9.1", "CER asks for the indefinite length in constructed elements"),
    /** An element of indefinite length has no end-of-contents. */
    END_OF_CONTENTS_MISSING(26, "end-of-contents-missing", "X.690 8.1.5", "an element of indefinite length has no end-of-contents"),
    /** End-of-contents octets where no indefinite length is open. */
    END_OF_CONTENTS_UNEXPECTED(27, "end-of-contents-unexpected", "X.690 8.1.5", "end-of-contents octets where no indefinite length is open"),
    /** End-of-contents is not two zero octets. */
    END_OF_CONTENTS_MALFORMED(28, "end-of-contents-malformed", "X.690 8.1.5", "end-of-contents is not two zero octets"),
    /** A length in fragments has another number of blocks than 1 to 4. */
    FRAGMENT_COUNT(29, "fragment-count", "X.691 11.9.3.8", "a length in fragments has another number of blocks than 1 to 4"),
    /** Values are nested deeper than the limit. */
    DEPTH_LIMIT(30, "depth-limit", null, "values are nested deeper than the limit"),
    /** An element is longer than the limit. */
    LENGTH_LIMIT(31, "length-limit", null, "an element is longer than the limit"),
    /** A value is larger than the documented limit of its type. */
    LIMIT_EXCEEDED(32, "limit-exceeded", null, "a value is larger than the documented limit of its type"),
    /** A BOOLEAN has other than one octet. */
    BOOLEAN_LENGTH(40, "boolean-length", "X.690 8.2.1", "a BOOLEAN has other than one octet"),
    /** A TRUE is not FF. */
    BOOLEAN_NOT_CANONICAL(41, "boolean-not-canonical", "X.690 11.1", "a TRUE is not FF"),
    /** An INTEGER or ENUMERATED has no octets. */
    INTEGER_EMPTY(42, "integer-empty", "X.690 8.3.1", "an INTEGER or ENUMERATED has no octets"),
    /** An INTEGER or ENUMERATED has a superfluous first octet. */
    INTEGER_NOT_MINIMAL(43, "integer-not-minimal", "X.690 8.3.2", "an INTEGER or ENUMERATED has a superfluous first octet"),
    /** An INTEGER does not fit into its type. */
    INTEGER_RANGE(44, "integer-range", null, "an INTEGER does not fit into its type"),
    /** A NULL has contents octets. */
    NULL_NOT_EMPTY(45, "null-not-empty", "X.690 8.8.2", "a NULL has contents octets"),
    /** An object identifier has no octets. */
    OID_EMPTY(50, "oid-empty", "X.690 8.19.2", "an object identifier has no octets"),
    /** An arc starts with the octet 80. */
    OID_PADDED(51, "oid-padded", "X.690 8.19.2", "an arc starts with the octet 80"),
    /** The last arc is not complete. */
    OID_UNTERMINATED(52, "oid-unterminated", "X.690 8.19.2", "the last arc is not complete"),
    /** An arc is 2^448 or more. */
    OID_ARC_LIMIT(53, "oid-arc-limit", null, "an arc is 2^448 or more"),
    /** The text is not an object identifier. */
    OID_SYNTAX(54, "oid-syntax", "X.680 32", "the text is not an object identifier"),
    /** The first two arcs of an object identifier are out of range. */
    OID_ROOT(55, "oid-root", "X.690 8.19.4", "the first two arcs of an object identifier are out of range"),
    /** A BIT STRING has no initial octet. */
    BIT_STRING_EMPTY(60, "bit-string-empty", "X.690 8.6.2.2", "a BIT STRING has no initial octet"),
    /** A BIT STRING has more than seven unused bits. */
    BIT_STRING_UNUSED(61, "bit-string-unused", "X.690 8.6.2.2", "a BIT STRING has more than seven unused bits"),
    /** An empty BIT STRING has unused bits. */
    BIT_STRING_UNUSED_EMPTY(62, "bit-string-unused-empty", "X.690 8.6.2.3", "an empty BIT STRING has unused bits"),
    /** An unused bit is not zero. */
    BIT_STRING_PADDING(63, "bit-string-padding", "X.690 11.2.1", "an unused bit is not zero"),
    /** A BIT STRING with named bits ends with a zero bit. */
    BIT_STRING_TRAILING_ZERO(64, "bit-string-trailing-zero", "X.690 11.2.2", "a BIT STRING with named bits ends with a zero bit"),
    /** A BIT STRING segment before the last has unused bits. */
    BIT_STRING_SEGMENT(65, "bit-string-segment", "X.690 8.6.4", "a BIT STRING segment before the last has unused bits"),
    /** A segment of a constructed string has the wrong tag. */
    SEGMENT_TAG(66, "segment-tag", "X.690 8.7.3.2", "a segment of a constructed string has the wrong tag"),
    /** DER allows no constructed strings. */
    CONSTRUCTED_STRING(67, "constructed-string", "X.690 10.2", "DER allows no constructed strings"),
    /** CER splits strings above 1000 octets into segments of 1000. */
    SEGMENT_SIZE(68, "segment-size", "X.690 9.2", "CER splits strings above 1000 octets into segments of 1000"),
    /** A string is in segments where the type keeps a slice of the input. */
    SEGMENTED_STRING(69, "segmented-string", null, "a string is in segments where the type keeps a slice of the input"),
    /** A REAL has reserved or missing octets. */
    REAL_ENCODING(70, "real-encoding", "X.690 8.5", "a REAL has reserved or missing octets"),
    /** A decimal REAL is not in a form of ISO 6093. */
    REAL_DECIMAL(71, "real-decimal", "X.690 8.5.8", "a decimal REAL is not in a form of ISO 6093"),
    /** A REAL is not in its normal form. */
    REAL_NOT_CANONICAL(72, "real-not-canonical", "X.690 11.3", "a REAL is not in its normal form"),
    /** A REAL of value zero has a mantissa. */
    REAL_ZERO(73, "real-zero", "X.690 8.5.2", "a REAL of value zero has a mantissa"),
    /** A character is not one of the type's. */
    CHARACTER_INVALID(80, "character-invalid", "X.680 41", "a character is not one of the type's"),
    /** The bytes are not UTF-8. */
    UTF8_INVALID(81, "utf8-invalid", "X.690 8.23.10", "the bytes are not UTF-8"),
    /** A character is cut short. */
    CHARACTER_TRUNCATED(82, "character-truncated", "X.690 8.23", "a character is cut short"),
    /** The text is not an OID-IRI. */
    OID_IRI_SYNTAX(83, "oid-iri-syntax", "X.680 34", "the text is not an OID-IRI"),
    /** The text is not a UTCTime. */
    UTC_TIME_SYNTAX(90, "utc-time-syntax", "X.680 47", "the text is not a UTCTime"),
    /** The text is not a GeneralizedTime. */
    GENERALIZED_TIME_SYNTAX(91, "generalized-time-syntax", "X.680 46", "the text is not a GeneralizedTime"),
    /** The text is not a TIME. */
    TIME_SYNTAX(92, "time-syntax", "X.680 38", "the text is not a TIME"),
    /** A UTCTime is not in the form YYMMDDHHMMSSZ. */
    UTC_TIME_NOT_CANONICAL(93, "utc-time-not-canonical", "X.690 11.8", "a UTCTime is not in the form YYMMDDHHMMSSZ"),
    /** A GeneralizedTime is not in the form YYYYMMDDHHMMSS[.f]Z. */
    GENERALIZED_TIME_NOT_CANONICAL(94, "generalized-time-not-canonical", "X.690 11.7", "a GeneralizedTime is not in the form YYYYMMDDHHMMSS[.f]Z"),
    /** A TIME is not in its normal form. */
    TIME_NOT_CANONICAL(95, "time-not-canonical", "X.690 11.9", "a TIME is not in its normal form"),
    /** A component is present although it equals its default. */
    DEFAULT_ENCODED(100, "default-encoded", "X.690 11.5", "a component is present although it equals its default"),
    /** The components of a SET are not in the order of their tags. */
    SET_ORDER(101, "set-order", "X.690 10.3", "the components of a SET are not in the order of their tags"),
    /** The elements of a SET OF are not in order. */
    SET_OF_ORDER(102, "set-of-order", "X.690 11.6", "the elements of a SET OF are not in order"),
    /** A component is missing. */
    MISSING_COMPONENT(103, "missing-component", "X.690 8.9", "a component is missing"),
    /** A component is present twice. */
    DUPLICATE_COMPONENT(104, "duplicate-component", "X.690 8.11", "a component is present twice"),
    /** An element is not expected here. */
    UNEXPECTED_ELEMENT(105, "unexpected-element", null, "an element is not expected here"),
    /** No alternative has this tag. */
    UNKNOWN_ALTERNATIVE(106, "unknown-alternative", "X.690 8.13", "no alternative has this tag"),
    /** No enumeration item has this number. */
    UNKNOWN_ENUMERATION(107, "unknown-enumeration", "X.680 20", "no enumeration item has this number"),
    /** The value does not meet its constraint. */
    CONSTRAINT_VIOLATED(108, "constraint-violated", null, "the value does not meet its constraint"),
    /** The value to encode is not one of the type. */
    VALUE_MISMATCH(109, "value-mismatch", null, "the value to encode is not one of the type"),
    /** These rules cannot be used for values of this type here. */
    UNSUPPORTED(110, "unsupported", null, "these rules cannot be used for values of this type here"),
    /** The encoding is not the canonical one of its value. */
    NOT_CANONICAL(111, "not-canonical", null, "the encoding is not the canonical one of its value"),
    /** A length in the long form has no octets. */
    LENGTH_EMPTY(112, "length-empty", "X.696 8.6.5", "a length in the long form has no octets"),
    /** A tag is not in the form that its number asks for. */
    TAG_FORM(113, "tag-form", "X.696 8.7.2", "a tag is not in the form that its number asks for"),
    /** The XML text is not a value of the type. */
    XML_VALUE(114, "xml-value", "X.693 8", "the XML text is not a value of the type"),
    /** Values of this type are read into an arena, and the reader has none. */
    NO_ARENA(115, "no-arena", null, "values of this type are read into an arena, and the reader has none"),
    /** The value does not fit its column. */
    COLUMN_OVERFLOW(120, "column-overflow", null, "the value does not fit its column");

    private final int code;
    private final String label;
    private final @Nullable String clause;
    private final String message;

    ErrorKind(int code, String label, @Nullable String clause, String message) {
        this.code = code;
        this.label = label;
        this.clause = clause;
        this.message = message;
    }

    /**
     * Returns the stable number.
     *
     * @return the number
     */
    public int code() {
        return code;
    }

    /**
     * Returns the stable name for machines, such as {@code length-reserved}.
     *
     * @return the name
     */
    public String label() {
        return label;
    }

    /**
     * Returns the clause that the input breaks, such as {@code X.690 11.1}.
     *
     * @return the clause, or null if the fault is not against one
     */
    public @Nullable String clause() {
        return clause;
    }

    /**
     * Returns one sentence for people, without offset and clause.
     *
     * @return the sentence
     */
    public String message() {
        return message;
    }
}
