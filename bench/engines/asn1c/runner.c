/*
 * The runner protocol for code that asn1c made: see ../python_runner.py.
 * Compiled once for each specification, with -DPDU=asn_DEF_<type> and -DVERSION="...".
 * Time is that of the thread; the structure of each decoded record is freed within the measured time, as a user would.
 */
#define _POSIX_C_SOURCE 200809L
#include <asn_application.h>
#include <constr_TYPE.h>
#include <der_encoder.h>
#include <xer_encoder.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern asn_TYPE_descriptor_t PDU;

typedef struct {
    const uint8_t *octets;
    size_t length;
    void *value;
} record_t;

static record_t *records;
static size_t count;
static size_t total;
static char operation[32];

static uint8_t *sink;
static size_t sink_length, sink_capacity;

static int append(const void *octets, size_t length, void *key) {
    (void)key;
    if (sink_length + length > sink_capacity) {
        sink_capacity = (sink_length + length) * 2;
        sink = realloc(sink, sink_capacity);
        if (!sink) abort();
    }
    memcpy(sink + sink_length, octets, length);
    sink_length += length;
    return 0;
}

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (long long)t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int fail(const char *what) {
    printf("{\"ready\": false, \"error\": \"%s\"}\n", what);
    fflush(stdout);
    return 1;
}

static int read_records(const char *path, size_t limit) {
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)size);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) return 0;
    fclose(file);
    for (long at = 0; at + 4 <= size && (!limit || count < limit);) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        records = realloc(records, (count + 1) * sizeof *records);
        records[count++] = (record_t){data + at + 4, length, NULL};
        total += length;
        at += 4 + (long)length;
    }
    return count > 0;
}

static void *decode(const record_t *record) {
    void *value = NULL;
    asn_dec_rval_t result = ber_decode(NULL, &PDU, &value, record->octets, record->length);
    if (result.code == RC_OK) return value;
    ASN_STRUCT_FREE(PDU, value);
    return NULL;
}

/* One operation on one record; its text or octets are in the sink afterwards. */
static int once(const record_t *record) {
    sink_length = 0;
    if (!strcmp(operation, "encode")) return der_encode(&PDU, record->value, append, NULL).encoded >= 0;
    void *value = decode(record);
    if (!value) return 0;
    int good = 1;
    if (!strcmp(operation, "json")) good = xer_encode(&PDU, value, XER_F_CANONICAL, append, NULL).encoded >= 0;
    ASN_STRUCT_FREE(PDU, value);
    return good;
}

static void dump(const record_t *record) {
    once(record);
    if (!strcmp(operation, "encode")) {
        printf("{\"hex\": \"");
        for (size_t i = 0; i < sink_length; i++) printf("%02x", sink[i]);
        printf("\"}\n");
        return;
    }
    if (!strcmp(operation, "decode")) {
        void *value = decode(record);
        xer_encode(&PDU, value, XER_F_CANONICAL, append, NULL);
        ASN_STRUCT_FREE(PDU, value);
    }
    printf("{\"xer\": \"");
    for (size_t i = 0; i < sink_length; i++) {
        uint8_t c = sink[i];
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 0x20) printf("\\u%04x", c);
        else putchar(c);
    }
    printf("\"}\n");
}

int main(void) {
    char line[4096], path[4000] = "";
    size_t limit = 0;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (!strcmp(line, "go")) break;
        if (!strncmp(line, "op ", 3)) snprintf(operation, sizeof operation, "%s", line + 3);
        if (!strncmp(line, "records ", 8)) snprintf(path, sizeof path, "%s", line + 8);
        if (!strncmp(line, "limit ", 6)) limit = strtoul(line + 6, NULL, 10);
    }
    if (strcmp(operation, "decode") && strcmp(operation, "encode") && strcmp(operation, "json"))
        return fail("no such operation");
    if (!read_records(path, limit)) return fail("cannot read the records");
    for (size_t i = 0; i < count; i++) {
        records[i].value = decode(&records[i]);
        if (!records[i].value) return fail("cannot decode a record");
        if (strcmp(operation, "encode")) ASN_STRUCT_FREE(PDU, records[i].value);
    }
    if (!once(&records[0])) return fail("cannot encode a record");
    printf("{\"ready\": true, \"name\": \"asn1c %s\", \"records\": %zu}\n", VERSION, count);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "run ", 4)) {
            long long limit_ns = (long long)(strtod(line + 4, NULL) * 1e9), start = now(), spent;
            size_t passes = 0;
            do {
                for (size_t i = 0; i < count; i++) once(&records[i]);
                passes++;
                spent = now() - start;
            } while (spent < limit_ns);
            printf("{\"records\": %zu, \"octets\": %zu, \"ns\": %lld}\n", passes * count, passes * total, spent);
        } else if (!strncmp(line, "passes ", 7)) {
            for (size_t passes = strtoul(line + 7, NULL, 10); passes; passes--)
                for (size_t i = 0; i < count; i++) once(&records[i]);
            printf("{}\n");
        } else if (!strncmp(line, "dump ", 5)) {
            size_t n = strtoul(line + 5, NULL, 10);
            for (size_t i = 0; i < count && i < n; i++) dump(&records[i]);
            printf("{\"end\": true}\n");
        } else {
            break;
        }
        fflush(stdout);
    }
    return 0;
}
