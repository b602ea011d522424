-- Texts of keys are bytea: they may hold any byte, and text refuses NUL. What is kept is json: jsonb refuses NUL, too.
CREATE TABLE ralph_entry (
	key     bytea PRIMARY KEY, -- SHA-256 of what identifies the entry: an index cannot hold texts of any length
	scope   bytea NOT NULL,
	root    bytea NOT NULL,
	policy  bytea NOT NULL,
	host    bytea NOT NULL,
	session bytea NOT NULL,
	agent   bytea NOT NULL,
	project boolean NOT NULL,
	entry   json NOT NULL,        -- a loop.Entry
	pending boolean NOT NULL,     -- it has effects that are not made yet
	version text NOT NULL,        -- the transaction that saved it
	saved   timestamptz NOT NULL
) WITH (fillfactor = 70); -- a save then finds room on the page, and changes no index
CREATE INDEX ralph_entry_scope ON ralph_entry (sha256(scope), key);
CREATE INDEX ralph_entry_pending ON ralph_entry (sha256(scope), key) WHERE pending;

CREATE TABLE ralph_record (
	key     bytea PRIMARY KEY, -- SHA-256 of its loop and its ID
	scope   bytea NOT NULL,
	root    bytea NOT NULL,
	policy  bytea NOT NULL,
	session bytea NOT NULL,
	id      bytea NOT NULL,
	at      timestamptz NOT NULL,
	record  json NOT NULL -- a loop.Record
);
CREATE INDEX ralph_record_scope ON ralph_record (sha256(scope), at, key);
CREATE INDEX ralph_record_at ON ralph_record USING brin (at); -- small; for retention

CREATE TABLE ralph_document (
	key     bytea PRIMARY KEY, -- SHA-256 of kind and name
	kind    bytea NOT NULL,
	name    bytea NOT NULL,
	data    bytea NOT NULL,
	version text NOT NULL -- the transaction that put it
);
CREATE INDEX ralph_document_kind ON ralph_document (sha256(kind), key);

CREATE TABLE ralph_lease (
	key   bytea PRIMARY KEY, -- SHA-256 of its name
	owner bytea NOT NULL,
	token text NOT NULL,       -- the transaction that took it
	ends  timestamptz NOT NULL -- by the clock of the server, unless it is renewed
);
