-- Events as `ambit audit export --as jsonl` writes them. One row an event: an event that is loaded again has the same key,
-- and the newer row takes the older one's place when parts are merged, or at once for who asks with FINAL.
CREATE TABLE IF NOT EXISTS ambit_event
(
    log        UUID,
    sequence   UInt64,
    time       DateTime64(6, 'UTC'),
    kind       LowCardinality(String),
    result     Enum8('allowed' = 1, 'refused' = 2, 'failed' = 3),
    app        LowCardinality(String),
    instance   String,
    pid        Nullable(Int32),
    grant      String,
    document   Tuple(path String, volume String, inode Nullable(UInt64), birth Nullable(DateTime64(6, 'UTC'))),
    how        LowCardinality(String),
    rule       LowCardinality(String),
    reason     String,
    detail     Map(String, String)
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(time)
ORDER BY (log, sequence);

-- Events as `--as ocsf` writes them: what is asked for most as columns, and the whole event beside them.
CREATE TABLE IF NOT EXISTS ambit_ocsf
(
    uid          String MATERIALIZED JSONExtractString(event, 'metadata', 'uid'),
    time         DateTime64(3, 'UTC') MATERIALIZED fromUnixTimestamp64Milli(JSONExtractInt(event, 'time')),
    class_uid    UInt32 MATERIALIZED JSONExtractUInt(event, 'class_uid'),
    type_uid     UInt64 MATERIALIZED JSONExtractUInt(event, 'type_uid'),
    severity_id  UInt8 MATERIALIZED JSONExtractUInt(event, 'severity_id'),
    app          LowCardinality(String) MATERIALIZED JSONExtractString(event, 'actor', 'app_uid'),
    file         String MATERIALIZED JSONExtractString(event, 'file', 'path'),
    event        String
)
ENGINE = ReplacingMergeTree
ORDER BY uid;
