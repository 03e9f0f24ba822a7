/* Generated from action.CanMove by go test ./models -run Table -update. */
mtype = { received, denied, pending_approval, approved, claimed, executing, succeeded, failed, uncertain, reconciled_succeeded, reconciled_failed, expired, revoked };

#define EDGE(f, t) (false \
  || ((f) == received && ((t) == denied || (t) == pending_approval || (t) == approved || (t) == executing)) \
  || ((f) == pending_approval && ((t) == denied || (t) == pending_approval || (t) == approved || (t) == expired || (t) == revoked)) \
  || ((f) == approved && ((t) == denied || (t) == claimed || (t) == executing || (t) == expired || (t) == revoked)) \
  || ((f) == claimed && ((t) == denied || (t) == claimed || (t) == executing || (t) == expired || (t) == revoked)) \
  || ((f) == executing && ((t) == succeeded || (t) == failed || (t) == uncertain)) \
  || ((f) == uncertain && ((t) == executing || (t) == reconciled_succeeded || (t) == reconciled_failed)))

#define OVER(s) (false || (s) == denied || (s) == succeeded || (s) == failed || (s) == reconciled_succeeded || (s) == reconciled_failed || (s) == expired || (s) == revoked)

/* Every move names its edge; a model that moves otherwise fails. */
#define move(s, from, to) assert(s == from && EDGE(from, to)); s = to
