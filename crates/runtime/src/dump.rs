//! A walk over encodings without a schema.
