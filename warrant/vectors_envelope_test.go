package warrant_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/keys"
	"github.com/seed-de4804fb/verbatim/warrant"
)

const plainArgs = `{"a":1}`

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	out, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// envelope is a DSSE envelope, right or wrong.
func envelope(kind string, payload []byte, keyID string, sig []byte) string {
	b := base64.StdEncoding.EncodeToString
	str := func(s string) string { return string(canon.StringValue(s).Canonical()) }
	return `{"payload":` + str(b(payload)) + `,"payloadType":` + str(kind) + `,"signatures":[{"keyid":` + str(keyID) + `,"sig":` + str(b(sig)) + `}]}`
}

// taken is a signed sample in parts.
type taken struct {
	text    string
	payload []byte
	keyID   string
	sig     []byte
}

func take(t testing.TB) taken {
	t.Helper()
	s := signer(t, 1)
	text := sign(t, sample(t, plainArgs))
	v, err := canon.DecodeText(text, canon.Options{})
	if err != nil {
		t.Fatal(err)
	}
	part := func(pointer string) []byte {
		x, _ := v.Lookup(pointer)
		out, err := base64.StdEncoding.DecodeString(x.Text())
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	return taken{text, part("/payload"), s.KeyID(), part("/signatures/0/sig")}
}

// envelopeVectors are wrong around the payload.
func envelopeVectors(t testing.TB) (out []vector) {
	t.Helper()
	w := take(t)
	stranger := signer(t, 3)
	votes, err := keys.NewSigner(keys.Votes, seedOf(1))
	if err != nil {
		t.Fatal(err)
	}
	one := w.text[strings.Index(w.text, `{"keyid"`) : len(w.text)-2]
	add := func(name, text string, v warrant.Verdict) {
		out = append(out, once("envelope: "+name, text, plainArgs, v))
	}
	add("as it was signed", w.text, warrant.OK)
	add("with white space and another order", ` { "signatures" : [`+one+`],"payloadType":"`+warrant.Type+`","payload":"`+base64.StdEncoding.EncodeToString(w.payload)+`"}`, warrant.OK)
	add("by the second key", string(signer(t, 2).Sign(warrant.Type, w.payload).JSON()), warrant.OK)
	add("nothing", "", warrant.Malformed)
	add("no JSON", "x", warrant.Malformed)
	add("a list", "["+w.text+"]", warrant.Malformed)
	add("something behind", w.text+"{}", warrant.Malformed)
	add("one member more", strings.Replace(w.text, "{", `{"x":1,`, 1), warrant.Malformed)
	add("a member twice", strings.Replace(w.text, "{", `{"payloadType":"`+warrant.Type+`",`, 1), warrant.Malformed)
	add("a member in another case", strings.Replace(w.text, `"payloadType"`, `"payloadtype"`, 1), warrant.Malformed)
	add("no signature", strings.Replace(w.text, one, "", 1), warrant.Malformed)
	add("two signatures", strings.Replace(w.text, one, one+","+one, 1), warrant.Malformed)
	add("a signature with one member more", strings.Replace(w.text, `{"keyid"`, `{"alg":"none","keyid"`, 1), warrant.Malformed)
	add("a key id that is no text", strings.Replace(w.text, `"`+w.keyID+`"`, "1", 1), warrant.Malformed)
	add("a payload in URL base64", strings.Replace(w.text, base64.StdEncoding.EncodeToString(w.payload), base64.RawURLEncoding.EncodeToString(w.payload)+"_", 1), warrant.Malformed)
	add("a signature without padding", strings.Replace(w.text, "==\"", "\"", 1), warrant.Malformed)
	add("another type, signed so", string(signer(t, 1).Sign(warrant.Type+"x", w.payload).JSON()), warrant.WrongType)
	add("the type of a receipt", string(signer(t, 1).Sign("application/vnd.verbatim.receipt.v1+json", w.payload).JSON()), warrant.WrongType)
	add("the type of an approval, by the same bytes as key", string(votes.Sign("application/vnd.verbatim.approval.v1+json", w.payload).JSON()), warrant.WrongType)
	add("another type written over", strings.Replace(w.text, warrant.Type, warrant.Type+"x", 1), warrant.WrongType)
	add("a type signed as another", envelope(warrant.Type, w.payload, w.keyID, sigOf(t, signer(t, 1).Sign(warrant.Type+"x", w.payload))), warrant.BadSignature)
	add("a key that nobody knows", string(stranger.Sign(warrant.Type, w.payload).JSON()), warrant.UnknownKey)
	add("a key that nobody knows, under a known name", envelope(warrant.Type, w.payload, w.keyID, sigOf(t, stranger.Sign(warrant.Type, w.payload))), warrant.BadSignature)
	add("the other known key, under this one's name", envelope(warrant.Type, w.payload, w.keyID, sigOf(t, signer(t, 2).Sign(warrant.Type, w.payload))), warrant.BadSignature)
	add("no key id", envelope(warrant.Type, w.payload, "", w.sig), warrant.UnknownKey)
	add("no signature bytes", envelope(warrant.Type, w.payload, w.keyID, nil), warrant.BadSignature)
	add("a signature that is too short", envelope(warrant.Type, w.payload, w.keyID, w.sig[:63]), warrant.BadSignature)
	add("a signature that is too long", envelope(warrant.Type, w.payload, w.keyID, append(slices.Clone(w.sig), 0)), warrant.BadSignature)
	add("a signature of zeros", envelope(warrant.Type, w.payload, w.keyID, make([]byte, 64)), warrant.BadSignature)
	add("an HMAC with the public key", envelope(warrant.Type, w.payload, w.keyID, macOf(signer(t, 1).Public()[0], w.payload)), warrant.BadSignature)
	add("an ECDSA signature", envelope(warrant.Type, w.payload, w.keyID, append([]byte{0x30, 0x44, 0x02, 0x20}, make([]byte, 66)...)), warrant.BadSignature)
	add("the payload itself signed, without its type", envelope(warrant.Type, w.payload, w.keyID, ed25519.Sign(ed25519.NewKeyFromSeed(seedOf(1)), w.payload)), warrant.BadSignature)
	add("the same signature written differently", envelope(warrant.Type, w.payload, w.keyID, malleable(w.sig)), warrant.BadSignature)
	for _, bit := range []int{0, 255, 256, 511} {
		sig := slices.Clone(w.sig)
		sig[bit/8] ^= 1 << (bit % 8)
		add("bit "+big.NewInt(int64(bit)).String()+" of the signature", envelope(warrant.Type, w.payload, w.keyID, sig), warrant.BadSignature)
	}
	return out
}

// malleable adds the order of the group to the second half of a signature
// (RFC 8032 §5.1.7 refuses that).
func malleable(sig []byte) []byte {
	order, _ := new(big.Int).SetString("27742317777372353535851937790883648493", 10)
	order.Add(order, new(big.Int).Lsh(big.NewInt(1), 252))
	half := slices.Clone(sig[32:])
	slices.Reverse(half)
	sum := new(big.Int).Add(new(big.Int).SetBytes(half), order).FillBytes(make([]byte, 32))
	slices.Reverse(sum)
	return append(slices.Clone(sig[:32]), sum...)
}

// payloadVectors change one member of a payload, without and with a new
// signature.
func payloadVectors(t testing.TB) (out []vector) {
	t.Helper()
	w, s := take(t), signer(t, 1)
	v, err := canon.Decode(w.payload, canon.Options{Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	resigned := func(name string, payload []byte, verdict warrant.Verdict) {
		out = append(out, once("payload: "+name, string(s.Sign(warrant.Type, payload).JSON()), plainArgs, verdict))
	}
	for _, m := range v.Members() {
		p := "/" + m.Name
		moved := must(v.With(p, other(m.Value))).Canonical()
		out = append(out, once("payload: "+m.Name+" changed after it was signed", envelope(warrant.Type, moved, w.keyID, w.sig), plainArgs, warrant.BadSignature))
		resigned(m.Name+" missing", v.Without(p).Canonical(), warrant.Malformed)
		resigned(m.Name+" null", must(v.With(p, canon.NullValue())).Canonical(), warrant.Malformed)
		resigned(m.Name+" of another kind", must(v.With(p, canon.ArrayValue(m.Value))).Canonical(), warrant.Malformed)
	}
	set := func(name string, x canon.Value) []byte { return must(v.With("/"+name, x)).Canonical() }
	text := canon.StringValue
	resigned("one member more", canon.ObjectValue(append(v.Members(), canon.Member{Name: "scope", Value: text("*")})...).Canonical(), warrant.Malformed)
	resigned("a space", append([]byte(" "), w.payload...), warrant.Malformed)
	resigned("a member twice", append([]byte(`{"v":1,`), w.payload[1:]...), warrant.Malformed)
	resigned("another version", set("v", canon.IntValue(2)), warrant.Malformed)
	resigned("another kind of run", set("kind", text("anything")), warrant.Malformed)
	resigned("a mutation without an attempt", set("attempt", canon.IntValue(0)), warrant.Malformed)
	resigned("a tool whose errors are unclear", set("errors", text("unclear")), warrant.OK)
	resigned("errors that are worth something else", set("errors", text("proved")), warrant.Malformed)
	resigned("a read with an attempt", set("kind", text("read")), warrant.Malformed)
	resigned("a time without milliseconds", set("issuedAt", text("2026-11-30T09:00:00Z")), warrant.Malformed)
	resigned("a time in another zone", set("issuedAt", text("2026-11-30T10:00:00.000+01:00")), warrant.Malformed)
	resigned("a day that does not exist", set("issuedAt", text("2026-11-31T09:00:00.000Z")), warrant.Malformed)
	resigned("a digest in capitals", set("argsDigest", text(strings.ToUpper(textAt(v, "/argsDigest")))), warrant.Malformed)
	resigned("half a minute and a moment", set("sendDeadline", text("2026-11-30T09:00:30.001Z")), warrant.Malformed)
	resigned("a deadline before its signature", set("sendDeadline", text("2026-11-30T08:59:59.000Z")), warrant.Malformed)
	resigned("a deadline at its signature", set("sendDeadline", text(issued)), warrant.Malformed)
	resigned("an empty audience", set("audience", text("")), warrant.Malformed)
	resigned("another audience, signed so", set("audience", text(audience+".evil")), warrant.WrongAudience)
	resigned("another agent, signed so", set("agentName", text("other")), warrant.ArgumentsChanged) // the proposal hash is not of it
	resigned("another proposal, signed so", set("proposalHash", text(strings.Repeat("ab", 32))), warrant.ArgumentsChanged)
	resigned("another principal, signed so", set("principal", text("bob")), warrant.OK)
	return out
}

func textAt(v canon.Value, pointer string) string {
	x, _ := v.Lookup(pointer)
	return x.Text()
}

// standingVectors are about whom it is for, when, and how often.
func standingVectors(t testing.TB) []vector {
	t.Helper()
	use := func(e string, now string, v warrant.Verdict) check {
		return check{Now: now, Envelope: e, Arguments: plainArgs, Verdict: v}
	}
	with := func(change func(*warrant.Warrant)) string {
		w := sample(t, plainArgs)
		change(&w)
		return sign(t, w)
	}
	good := sign(t, sample(t, plainArgs))
	again := with(func(w *warrant.Warrant) { w.Fence = 2 })
	second := with(func(w *warrant.Warrant) { w.Action = "act_2" })
	read := with(func(w *warrant.Warrant) {
		w.Kind, w.Action, w.Attempt, w.Fence, w.ProviderKey = warrant.Read, "act_3", 0, 0, ""
	})
	preview := with(func(w *warrant.Warrant) {
		w.Kind, w.Action, w.Attempt, w.Fence, w.ProviderKey = warrant.Preview, "act_4", 0, 0, ""
	})
	old := with(func(w *warrant.Warrant) {
		w.IssuedAt, w.SendBy = at(t, "2026-11-30T08:58:59.999Z"), at(t, "2026-11-30T08:59:29.000Z")
	})
	expects := func(tool, id string, attempt int, v warrant.Verdict) check {
		return check{Tool: tool, Action: id, Attempt: attempt, Envelope: good, Arguments: plainArgs, Verdict: v}
	}
	return []vector{
		{"standing: the call that the executor expects", []check{expects("pay.transfer", "act_1", 1, warrant.OK)}},
		{"standing: another tool", []check{expects("pay.refund", "", 0, warrant.WrongTool)}},
		{"standing: a tool that begins like it", []check{expects("pay.transfer2", "", 0, warrant.WrongTool)}},
		{"standing: another action", []check{expects("", "act_2", 0, warrant.OtherAttempt)}},
		{"standing: another attempt", []check{expects("", "act_1", 2, warrant.OtherAttempt)}},
		{"standing: another executor", []check{use(with(func(w *warrant.Warrant) { w.Audience = "mail.example" }), "", warrant.WrongAudience)}},
		{"standing: an executor in another case", []check{use(with(func(w *warrant.Warrant) { w.Audience = "Payments.example" }), "", warrant.WrongAudience)}},
		{"standing: at the moment of its signature", []check{use(good, issued, warrant.OK)}},
		{"standing: the clock of the gateway is five seconds ahead", []check{use(good, "2026-11-30T08:59:55.000Z", warrant.OK)}},
		{"standing: the clock of the gateway is more ahead", []check{use(good, "2026-11-30T08:59:54.999Z", warrant.NotYet)}},
		{"standing: the last moment", []check{use(good, "2026-11-30T09:00:29.999Z", warrant.OK)}},
		{"standing: the deadline", []check{use(good, sendBy, warrant.Late)}},
		{"standing: long after", []check{use(good, "2027-11-30T09:00:10.000Z", warrant.Late)}},
		{"standing: signed before the executor's memory begins", []check{use(old, "2026-11-30T08:59:10.000Z", warrant.Replayed)}},
		{"use: twice", []check{use(good, "", warrant.OK), use(good, "", warrant.Replayed), use(good, "", warrant.Replayed)}},
		{"use: changed arguments do not use it up", []check{
			{Envelope: good, Arguments: `{"a":2}`, Verdict: warrant.ArgumentsChanged}, use(good, "", warrant.OK), use(good, "", warrant.Replayed)}},
		{"use: twice, with other white space", []check{use(good, "", warrant.OK), use(" "+good, "", warrant.Replayed)}},
		{"use: sent again under a new fence", []check{use(good, "", warrant.OK), use(again, "", warrant.OK), use(again, "", warrant.Replayed)}},
		{"use: the first sending, after it was sent again", []check{use(again, "", warrant.OK), use(good, "", warrant.OtherAttempt)}},
		{"use: two actions with the same arguments", []check{use(good, "", warrant.OK), use(second, "", warrant.OK)}},
		{"use: a read, twice", []check{use(read, "", warrant.OK), use(read, "", warrant.Replayed)}},
		{"use: a preview, twice", []check{use(preview, "", warrant.OK), use(preview, "", warrant.Replayed)}},
		{"use: after it was late", []check{use(good, sendBy, warrant.Late), use(good, "", warrant.OK)}},
	}
}

func TestALongTimeOfManyUsesIsForgotten(t *testing.T) {
	t.Parallel()
	now := at(t, issued)
	m := warrant.NewMemory(func() time.Time { return now })
	w := sample(t, plainArgs)
	for i := range 1 << 16 {
		w.Action = "act_" + big.NewInt(int64(i)).String()
		if v, err := m.Use(t.Context(), w); v != warrant.OK || err != nil {
			t.Fatalf("use %d: %s, %v", i, v, err)
		}
	}
	w.Action = "act_x"
	if v, err := m.Use(t.Context(), w); v == warrant.OK || err == nil {
		t.Errorf("a full memory lets run: %s, %v", v, err)
	}
	now = w.SendBy.Add(2 * time.Minute)
	w.IssuedAt, w.SendBy = now, now.Add(warrant.MaxLife)
	if v, err := m.Use(t.Context(), w); v != warrant.OK || err != nil {
		t.Errorf("a memory that had time to forget: %s, %v", v, err)
	}
}

// A clock goes on by ten minutes and is set right again: what was used before is
// used, and what is signed from then on runs.
func TestAClockThatIsSetBackBringsNoWarrantToLife(t *testing.T) {
	t.Parallel()
	now := at(t, issued)
	m := warrant.NewMemory(func() time.Time { return now })
	use := func(action string, signed time.Time, want warrant.Verdict) {
		t.Helper()
		w := warrant.Warrant{Action: action, Fence: 1, IssuedAt: signed, SendBy: signed.Add(warrant.MaxLife)}
		if v, err := m.Use(t.Context(), w); v != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", action, v, err, want)
		}
	}
	first := now
	use("act_1", first, warrant.OK)
	now = now.Add(10 * time.Minute)
	use("act_2", now, warrant.OK)
	now = first.Add(time.Second)
	use("act_1", first, warrant.Replayed)
	use("act_3", now, warrant.OK)
}
