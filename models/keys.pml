/* Four calls with one idempotency key: 0 and 1 are the same call twice, 2 is its retry after an answer, 3 has the key but
   other arguments. Two gateways serve them. Each call that begins may have its effect, whatever becomes of it. The row
   that holds the key is found by a unique insert; only a clean failure frees it. */
#include "table.pml"

#define CALLS 4
#define NONE 9
mtype st[CALLS] = received;
byte holder = NONE;          /* the row that the key leads to */
bool effect[CALLS];          /* the row may have had its effect */
byte begun;
#define PRINT(i) (i == 3 -> 2 : 1)
#define FAILED(i) (st[i] == failed || st[i] == reconciled_failed)

inline start(i) {
  /* nobody else may be running, be unclear or have succeeded under this key */
  move(st[i], received, executing); holder = i; begun++;
  assert(!(i != 0 && (st[0] == executing || st[0] == uncertain || st[0] == succeeded || st[0] == reconciled_succeeded)));
  assert(!(i != 1 && (st[1] == executing || st[1] == uncertain || st[1] == succeeded || st[1] == reconciled_succeeded)));
  assert(!(i != 2 && (st[2] == executing || st[2] == uncertain || st[2] == succeeded || st[2] == reconciled_succeeded)));
  assert(!(i != 3 && (st[3] == executing || st[3] == uncertain || st[3] == succeeded || st[3] == reconciled_succeeded)))
}

#ifdef BUG_FINGERPRINT_NOT_COMPARED
#define OTHER(a, b) false
#else
#define OTHER(a, b) (PRINT(a) != PRINT(b))
#endif

proctype Call(byte i) {
  byte seen = NONE;
#ifdef BUG_LOOK_UP_THEN_INSERT
  seen = holder;
#define FREE (seen == NONE || FAILED(seen))
#else
#define FREE (holder == NONE || FAILED(holder))
#endif
  atomic {
#ifndef BUG_LOOK_UP_THEN_INSERT
    seen = holder;
#endif
    if
    :: seen != NONE && OTHER(seen, i) -> move(st[i], received, denied); goto done             /* idempotency_mismatch */
#ifdef BUG_UNCERTAIN_FREES_THE_KEY
    :: seen != NONE && st[seen] == uncertain -> start(i)
#endif
    :: FREE && (seen == NONE || !OTHER(seen, i)) -> start(i)
    :: seen != NONE && !OTHER(seen, i) && !FAILED(seen) ->                   /* its stored answer, or: it still runs */
       assert(PRINT(seen) == PRINT(i)); goto done
    fi };
  if :: effect[i] = true :: skip fi;
  if
  :: atomic { effect[i] -> move(st[i], executing, succeeded) }
  :: atomic { !effect[i] -> move(st[i], executing, failed) }
  :: atomic { move(st[i], executing, uncertain) };
     if
     :: atomic { effect[i] -> move(st[i], uncertain, reconciled_succeeded) }
     :: atomic { !effect[i] -> move(st[i], uncertain, reconciled_failed) }
     :: skip
     fi
  fi;
done:
  assert(effect[0] + effect[1] + effect[2] + effect[3] <= 1)
}

init { atomic { run Call(0); run Call(1); run Call(2); run Call(3) } }
