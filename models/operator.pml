/* An uncertain call of high impact is settled by people: one says what happened and why, another confirms exactly that.
   Three accounts: 0 is the proposer's own. The answer of the attempt may come late at any time; it settles the row if it
   is still open, and is kept as evidence if it is not. */
#include "table.pml"

mtype st = uncertain;
bool truth;                  /* it happened */
byte claim;                  /* what was said first: 0 nothing, 1 it happened, 2 it did not; with evidence */
byte evidence;               /* the claim's number: a claim that is withdrawn and made again is another */
byte who;                    /* that said it */
byte settlements;
bool contradicted;           /* the answer says otherwise than the people: an alert, no change */
mtype final = received;
#define HAPPENED 1
#define NOT 2

inline settled(s) { settlements++; assert(settlements == 1); final = s }

#ifdef BUG_PROPOSER_CONFIRMS
#define STRANGER(id) true
#else
#define STRANGER(id) (id != 0)
#endif
#ifdef BUG_ONE_PERSON_CONFIRMS
#define SECOND(id) true
#else
#define SECOND(id) (who != id)
#endif
#ifdef BUG_CONFIRMS_WHAT_IS_THERE_NOW
#define SAME(saw) true
#else
#define SAME(saw) (saw == evidence)
#endif

proctype Person(byte id) {
  byte saw, saw_claim, tries;
  do
  :: tries < 3 -> tries++;
     if
     :: atomic { st == uncertain && claim == 0 && id != 0 -> who = id; evidence++; if :: claim = HAPPENED :: claim = NOT fi }
     :: atomic { st == uncertain && claim != 0 && who == id -> claim = 0 }         /* withdrawn */
     :: atomic { claim != 0 -> saw = evidence; saw_claim = claim };                /* reads the page, thinks */
        atomic {
          if
          :: st == uncertain && claim != 0 && STRANGER(id) && SECOND(id) && SAME(saw) ->
             if
                :: claim == HAPPENED -> move(st, uncertain, reconciled_succeeded); settled(reconciled_succeeded)
                :: claim == NOT -> move(st, uncertain, reconciled_failed); settled(reconciled_failed)
                fi;
                assert(id != 0 && who != 0); assert(id != who); assert(claim == saw_claim)
          :: else
          fi; saw = 0; saw_claim = 0 }
     :: skip
     fi
  :: tries == 3 -> break
  od
}

active proctype LateReply() {
  if
  :: truth = true;
     atomic {
       if
       :: st == uncertain -> move(st, uncertain, reconciled_succeeded); settled(reconciled_succeeded)
       :: else ->
#ifdef BUG_LATE_REPLY_OVERWRITES
          st = reconciled_succeeded;
#endif
          contradicted = (final != reconciled_succeeded)
       fi }
  :: skip
  fi;
  atomic { settlements > 0 -> assert(st == final) }
}

init { atomic { run Person(0); run Person(1); run Person(2) } }
