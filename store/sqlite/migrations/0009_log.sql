-- The log has a name, and its tree only grows. Record number n is the leaf at
-- index n-1, so the column leaf_index of the records stays unused.

CREATE TABLE log (
  one    INTEGER PRIMARY KEY CHECK (one = 1),
  origin TEXT NOT NULL CHECK (origin <> '')
) STRICT;

DELETE FROM head;
INSERT INTO head (one, size, root, at)
VALUES (1, 0, x'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855', 0);

CREATE TRIGGER tree_hash_frozen BEFORE UPDATE ON tree_hash
BEGIN SELECT RAISE(ABORT, 'the tree never changes'); END;
CREATE TRIGGER tree_hash_kept BEFORE DELETE ON tree_hash
BEGIN SELECT RAISE(ABORT, 'the tree is kept'); END;
CREATE TRIGGER tree_hash_dense BEFORE INSERT ON tree_hash
WHEN NEW.position <> (SELECT coalesce(max(position), -1) + 1 FROM tree_hash)
BEGIN SELECT RAISE(ABORT, 'the tree has no gap'); END;

CREATE TRIGGER head_forward BEFORE UPDATE ON head
WHEN NEW.size <= OLD.size
BEGIN SELECT RAISE(ABORT, 'the tree only grows'); END;
CREATE TRIGGER head_kept BEFORE DELETE ON head
BEGIN SELECT RAISE(ABORT, 'the tree is kept'); END;

-- A checkpoint may be signed by more witnesses later; older ones may go.
CREATE TRIGGER checkpoint_frozen BEFORE UPDATE ON checkpoint
WHEN NEW.size <> OLD.size OR NEW.root <> OLD.root
BEGIN SELECT RAISE(ABORT, 'a checkpoint never changes'); END;
