/* Three calls of 2, 2 and 1 under two limits: 4 for the principal, 2 for the payee that calls 0 and 2 share. Reserved at
   the commit point, posted on success, void on proved failure, held while uncertain. Every call may end late, be settled
   by two people at once, or stay uncertain. */
#include "table.pml"

#define CALLS 3
#define MOST 4
#define MOST_PAYEE 2
mtype st[CALLS] = received;
byte reserved, posted, reserved_payee, posted_payee;
byte spent, spent_payee;     /* what really happened */
bool happened[CALLS];

inline size(i, n, p) { n = (i == 2 -> 1 : 2); p = (i == 1 -> 0 : n) }
inline settle_yes(i, n, p) {
  reserved = reserved - n; reserved_payee = reserved_payee - p; posted = posted + n; posted_payee = posted_payee + p
}
inline settle_no(i, n, p) { reserved = reserved - n; reserved_payee = reserved_payee - p }

#define IN_LIMIT assert(reserved + posted <= MOST && reserved_payee + posted_payee <= MOST_PAYEE)
#define SPENT assert(spent <= MOST && spent_payee <= MOST_PAYEE)

proctype Call(byte i) {
  byte n, p;
  size(i, n, p);
#ifdef BUG_LIMIT_CHECKED_BEFORE
  reserved + posted + n <= MOST && reserved_payee + posted_payee + p <= MOST_PAYEE;
#define ROOM true
#else
#ifdef BUG_ONE_LIMIT_OF_TWO
#define ROOM (reserved + posted + n <= MOST)
#else
#define ROOM (reserved + posted + n <= MOST && reserved_payee + posted_payee + p <= MOST_PAYEE)
#endif
#endif
  atomic {
    if
    :: ROOM -> reserved = reserved + n; reserved_payee = reserved_payee + p; move(st[i], received, executing); IN_LIMIT
    :: else -> move(st[i], received, denied); goto done
    fi };
  if
  :: atomic { happened[i] = true; spent = spent + n; spent_payee = spent_payee + p; SPENT }
  :: skip
  fi;
  if                          /* the executor knows how it ended, or does not */
  :: atomic { st[i] == executing && happened[i] -> move(st[i], executing, succeeded); settle_yes(i, n, p); IN_LIMIT }
  :: atomic { st[i] == executing && !happened[i] -> move(st[i], executing, failed); settle_no(i, n, p) }
  :: atomic { st[i] == executing -> move(st[i], executing, uncertain);
#ifdef BUG_UNCERTAIN_IS_RELEASED
       settle_no(i, n, p)
#endif
     }
  fi;
done: skip
}

proctype Settler(byte i) {
  byte n, p;
  size(i, n, p);
#ifdef BUG_SETTLED_TWICE
  st[i] == uncertain;
  atomic { if :: happened[i] -> st[i] = reconciled_succeeded; settle_yes(i, n, p) :: else -> st[i] = reconciled_failed; settle_no(i, n, p) fi;
    assert(reserved <= MOST && reserved_payee <= MOST_PAYEE); IN_LIMIT }
#else
  if
  :: atomic { st[i] == uncertain && happened[i] -> move(st[i], uncertain, reconciled_succeeded);
#ifndef BUG_UNCERTAIN_IS_RELEASED
       settle_yes(i, n, p);
#endif
       IN_LIMIT }
  :: atomic { st[i] == uncertain && !happened[i] -> move(st[i], uncertain, reconciled_failed);
#ifndef BUG_UNCERTAIN_IS_RELEASED
       settle_no(i, n, p)
#endif
     }
  :: OVER(st[i])
  fi
#endif
}

/* When nothing is open, the books say exactly what happened. */
active proctype Auditor() {
  atomic { OVER(st[0]) && OVER(st[1]) && OVER(st[2]) ->
    assert(reserved == 0 && reserved_payee == 0); assert(posted == spent && posted_payee == spent_payee) }
}

init { atomic { run Call(0); run Call(1); run Call(2); run Settler(0); run Settler(0); run Settler(1); run Settler(2) } }
