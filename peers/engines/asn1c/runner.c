/*
 * Code that asn1c made as a peer; see ../python_runner.py for the protocol. Compiled once for each specification,
 * together with types.h: a line `PEER_TYPE(symbol, "Module", "Type")` for each type.
 *
 * asn1c has no values that could be compared; what it decoded is compared as the DER that it makes of it.
 */
#include <asn_application.h>
#include <constr_TYPE.h>
#include <der_encoder.h>
#include <per_decoder.h>
#include <per_encoder.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xer_decoder.h>
#include <xer_encoder.h>

/* Weak, since not all types have one under their own name. */
#define PEER_TYPE(symbol, module, name) extern asn_TYPE_descriptor_t asn_DEF_##symbol __attribute__((weak));
#include "types.h"
#undef PEER_TYPE

static const struct {
    const char *module, *name;
    asn_TYPE_descriptor_t *descriptor;
} types[] = {
#define PEER_TYPE(symbol, module, name) {module, name, &asn_DEF_##symbol},
#include "types.h"
#undef PEER_TYPE
};

typedef struct {
    uint8_t *octets;
    size_t length, capacity;
} octets_t;

static int append(const void *octets, size_t length, void *key) {
    octets_t *sink = key;
    if (sink->length + length > sink->capacity) {
        sink->capacity = (sink->length + length) * 2;
        sink->octets = realloc(sink->octets, sink->capacity);
        if (!sink->octets) abort();
    }
    memcpy(sink->octets + sink->length, octets, length);
    sink->length += length;
    return 0;
}

/* The next text of a request, in place; nothing behind the last. */
static char *text(char **at) {
    char *begin = strchr(*at, '"');
    if (!begin) return NULL;
    char *end = strchr(begin + 1, '"');
    if (!end) return NULL;
    *end = 0;
    *at = end + 1;
    return begin + 1;
}

static size_t unhex(const char *digits, uint8_t *octets) {
    size_t length = strlen(digits) / 2;
    for (size_t i = 0; i < length; i++) {
        unsigned octet = 0;
        sscanf(digits + 2 * i, "%2x", &octet);
        octets[i] = (uint8_t)octet;
    }
    return length;
}

static asn_dec_rval_t decode(const char *rule, asn_TYPE_descriptor_t *type, void **value, uint8_t *octets, size_t length) {
    if (!strcmp(rule, "uper")) return uper_decode_complete(NULL, type, value, octets, length);
    if (!strcmp(rule, "xer")) return xer_decode(NULL, type, value, octets, length);
    return ber_decode(NULL, type, value, octets, length);
}

static int encode(const char *rule, asn_TYPE_descriptor_t *type, void *value, octets_t *out) {
    if (!strcmp(rule, "xer")) return xer_encode(type, value, XER_F_BASIC, append, out).encoded >= 0;
    if (strcmp(rule, "uper")) return der_encode(type, value, append, out).encoded >= 0;
    asn_enc_rval_t written = uper_encode(type, value, append, out);
    if (written.encoded == 0) append("", 1, out); /* X.691 11.1.3 */
    return written.encoded >= 0;
}

static void hex(const octets_t *octets) {
    for (size_t i = 0; i < octets->length; i++) printf("%02x", octets->octets[i]);
}

static void check(char *line) {
    char *module = text(&line), *name = text(&line), *rule = text(&line);
    char *digits = text(&line), *der = text(&line);
    asn_TYPE_descriptor_t *type = NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].module, module) && !strcmp(types[i].name, name)) type = types[i].descriptor;
    if (!type) {
        printf("{\"unknown\": true}\n");
        return;
    }
    uint8_t *octets = malloc(strlen(digits) / 2 + 1), *expected = malloc(strlen(der) / 2 + 1);
    size_t length = unhex(digits, octets), expected_length = unhex(der, expected);
    void *value = NULL;
    octets_t again = {0}, written = {0};
    asn_dec_rval_t read = decode(rule, type, &value, octets, length);
    if (read.code != RC_OK) {
        printf("{\"decoded\": \"cannot decode: %s after %zu octets\"}\n", read.code == RC_WMORE ? "more wanted" : "failed", read.consumed);
    } else if (!encode("der", type, value, &again)) {
        printf("{\"decoded\": \"cannot encode what it decoded by DER\"}\n");
    } else if (again.length != expected_length || memcmp(again.octets, expected, expected_length)) {
        printf("{\"decoded\": \"other value: in DER ");
        hex(&again);
        printf("\"}\n");
    } else if (!encode(rule, type, value, &written)) {
        printf("{\"decoded\": \"\", \"encoded\": \"cannot encode\"}\n");
    } else {
        printf("{\"decoded\": \"\", \"encoded\": \"\", \"octets\": \"");
        hex(&written);
        printf("\"}\n");
    }
    ASN_STRUCT_FREE(*type, value);
    free(octets);
    free(expected);
    free(again.octets);
    free(written.octets);
}

int main(void) {
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        char *at = line;
        const char *word = text(&at);
        if (word && !strcmp(word, "check"))
            check(at);
        else
            printf("{\"name\": \"asn1c %s\", \"rules\": {\"ber\": \"\", \"der\": \"\", \"uper\": \"\", \"xer\": \"\"}}\n", VERSION);
        fflush(stdout);
    }
    return 0;
}
