"""The last step of the demonstration: what the records of a Parquet file say, asked in SQL."""

import sys

import duckdb

QUERY = """
WITH records AS (
    SELECT
        choice AS kind,
        coalesce(moCall.answerTime, moCall.releaseTime, mtCall.answerTime, sms.eventTime, data.openingTime) AS instant,
        coalesce(moCall.releaseTime_offset, mtCall.releaseTime_offset, sms.eventTime_offset, data.openingTime_offset)
            AS minutes,
        make_timestamp(epoch_us(instant) + 60000000::BIGINT * minutes) AS time,
        coalesce(moCall.duration, mtCall.duration) AS seconds,
        moCall.charge.amount / 100 AS euro,
        list_sum(list_transform(data.volumes, lambda volume: volume.uplink + volume.downlink)) AS octets
    FROM read_parquet(?)
)
SELECT
    strftime(time_bucket(INTERVAL 10 MINUTES, time), '%H:%M') AS "from",
    count(*) FILTER (kind = 'moCall') AS "calls made",
    count(*) FILTER (kind = 'mtCall') AS "calls taken",
    (sum(seconds) / 3600)::BIGINT AS hours,
    round(sum(euro), 2) AS euro,
    count(*) FILTER (kind = 'sms') AS messages,
    count(*) FILTER (kind = 'data') AS sessions,
    (sum(octets) / 1000000)::BIGINT AS megabytes,
    bar(count(*), 0, max(count(*)) OVER (), 20) AS records
FROM records
GROUP BY ALL
ORDER BY ALL
"""

connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
print(connection.sql(QUERY, params=[sys.argv[1]]))
