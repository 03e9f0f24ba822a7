-- The log: its name, the Merkle tree over the numbered records, and signed
-- checkpoints. Record number n is the leaf at index n-1.

CREATE TABLE log (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  origin TEXT COLLATE "C" NOT NULL CHECK (origin <> '')
);

-- Stored hashes of the tree, by their dense index (RFC 6962; the layout of
-- golang.org/x/mod/sumdb/tlog).
CREATE TABLE tree_hash (
  position BIGINT PRIMARY KEY CHECK (position >= 0),
  hash     BYTEA NOT NULL CHECK (length(hash) = 32)
);

CREATE TABLE head (
  one  INTEGER PRIMARY KEY CHECK (one = 1),
  size BIGINT NOT NULL CHECK (size >= 0),
  root BYTEA NOT NULL CHECK (length(root) = 32),
  at   BIGINT NOT NULL
);

INSERT INTO head (one, size, root, at)
VALUES (1, 0, '\xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 0);

CREATE TABLE checkpoint (
  size BIGINT PRIMARY KEY CHECK (size >= 0),
  root BYTEA NOT NULL CHECK (length(root) = 32),
  note TEXT COLLATE "C" NOT NULL,
  at   BIGINT NOT NULL
);

CREATE TRIGGER tree_hash_frozen BEFORE UPDATE ON tree_hash FOR EACH ROW EXECUTE FUNCTION refuse('the tree never changes');
CREATE TRIGGER tree_hash_kept BEFORE DELETE ON tree_hash FOR EACH ROW EXECUTE FUNCTION refuse('the tree is kept');
CREATE TRIGGER tree_hash_whole BEFORE TRUNCATE ON tree_hash FOR EACH STATEMENT EXECUTE FUNCTION refuse('the tree is kept');
CREATE TRIGGER head_forward BEFORE UPDATE ON head FOR EACH ROW WHEN (NEW.size <= OLD.size)
  EXECUTE FUNCTION refuse('the tree only grows');
CREATE TRIGGER head_kept BEFORE DELETE ON head FOR EACH ROW EXECUTE FUNCTION refuse('the tree is kept');
CREATE TRIGGER head_whole BEFORE TRUNCATE ON head FOR EACH STATEMENT EXECUTE FUNCTION refuse('the tree is kept');

-- A checkpoint may be signed by more witnesses later; older ones may go.
CREATE TRIGGER checkpoint_frozen BEFORE UPDATE ON checkpoint FOR EACH ROW WHEN (NEW.size <> OLD.size OR NEW.root <> OLD.root)
  EXECUTE FUNCTION refuse('a checkpoint never changes');
