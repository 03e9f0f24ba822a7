/* An uncertain attempt is sent again to a provider that takes our key, remembers it for a time and compares. Time has
   three parts: in the first we still send again; in the second messages under way may still arrive; in the third the
   provider may have forgotten the key. The catalog must set the end of the first so that the second is longer than any
   message travels; without that, no store can help. Authority is asked again before each sending. BLIND: a provider that
   takes no key, for which nothing is ever sent again. */
#include "table.pml"

mtype st = received;
byte part = 1;               /* of time */
byte wire[2];                /* messages under way, by key */
bool known[2];               /* keys that the provider remembers */
byte effects, sendings;
bool stopped;                /* an operator has stopped the tool */
bool answered;               /* "done" has reached the sender */

#ifdef BUG_NEW_KEY
#define KEY (sendings - 1)
#else
#define KEY 0
#endif

#define QUIET (OVER(st) || st == received || (st == uncertain && part == 3)) /* or a person must decide */

inline transmit() {
  assert(!stopped);
  sendings++; wire[KEY]++
}

#ifdef BUG_SENT_AFTER_RETENTION
#define IN_TIME true
#else
#define IN_TIME (part == 1)
#endif
#ifdef BUG_STOP_NOT_ASKED_AGAIN
#define ALLOWED true
#else
#define ALLOWED !stopped
#endif

active proctype Sender() {
  if :: atomic { !stopped -> move(st, received, executing); transmit() } :: stopped fi;
  do
  :: atomic { st == executing && answered -> move(st, executing, succeeded); assert(effects == 1) }
  :: atomic { st == executing -> move(st, executing, uncertain) }
  :: atomic { st == uncertain && answered -> move(st, uncertain, reconciled_succeeded); assert(effects == 1) }
#if !defined(BLIND) || defined(BUG_BLIND_IS_SENT_AGAIN)
  :: atomic { st == uncertain && sendings < 2 && IN_TIME && ALLOWED -> move(st, uncertain, executing); transmit() }
#endif
  :: QUIET -> break
  od
}

#ifdef BLIND
#define KNOWN(k) false
#else
#define KNOWN(k) known[k]
#endif

inline receive(k) {
  wire[k]--;
  if
  :: skip                                                      /* lost */
  :: skip; if :: KNOWN(k) -> skip :: else -> effects++; known[k] = true; assert(effects == 1) fi;
     if :: answered = true :: skip fi
  fi
}

active proctype Provider() {
  do
  :: atomic { wire[0] > 0 -> receive(0) }
  :: atomic { wire[1] > 0 -> receive(1) }
  :: wire[0] + wire[1] == 0 && QUIET -> break
  od
}

active proctype Time() {
  part = 2;
#ifdef BUG_SENT_AFTER_RETENTION
  atomic { part = 3; known[0] = false; known[1] = false }
#else
  atomic { wire[0] + wire[1] == 0 -> part = 3; known[0] = false; known[1] = false }
#endif
}

active proctype Operator() { if :: stopped = true :: skip fi }
