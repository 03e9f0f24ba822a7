package sink

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-de4804fb/verbatim/internal/events"
	"github.com/seed-de4804fb/verbatim/internal/netguard"
)

// MinSecret is the shortest secret of a webhook, in bytes.
const MinSecret = 24

// batchType is the media type of a batch (CloudEvents 1.0.2, JSON batch format).
const batchType = "application/cloudevents-batch+json"

// Webhook posts batches of CloudEvents to an address, each signed by HTTP
// message signature (RFC 9421, hmac-sha256) over method, address, media type
// and the digest of the body (RFC 9530).
type Webhook struct {
	url    string
	key    string // its name, for the receiver
	secret []byte
	client *netguard.Client
	now    func() time.Time
}

// NewWebhook checks the address and the secret. key is the name of the secret
// in signatures; of now the time in them is taken.
func NewWebhook(address, key string, secret []byte, client *netguard.Client, now func() time.Time) (*Webhook, error) {
	if len(secret) < MinSecret {
		return nil, fmt.Errorf("the secret of a webhook has at least %d characters", MinSecret)
	}
	if err := client.CheckURL(address); err != nil {
		return nil, err
	}
	return &Webhook{address, key, secret, client, now}, nil
}

// cloudEvent is the envelope of one event.
type cloudEvent struct {
	SpecVersion string       `json:"specversion"`
	ID          string       `json:"id"`
	Source      string       `json:"source"`
	Type        string       `json:"type"`
	Subject     string       `json:"subject"`
	Time        string       `json:"time"`
	ContentType string       `json:"datacontenttype"`
	Data        events.Event `json:"data"`
}

// Deliver posts a batch. Any answer but 200 to 299 has it come again.
func (w *Webhook) Deliver(ctx context.Context, batch []events.Event) error {
	all := make([]cloudEvent, 0, len(batch))
	for _, e := range batch {
		all = append(all, cloudEvent{"1.0", e.ID, "verbatim:" + url.PathEscape(e.Record.Log), e.Type, e.RunID, e.OccurredAt, "application/json", e})
	}
	var body bytes.Buffer
	text := json.NewEncoder(&body)
	text.SetEscapeHTML(false)
	if err := text.Encode(all); err != nil {
		return err
	}
	header, err := w.sign(body.Bytes())
	if err != nil {
		return err
	}
	return w.client.Post(ctx, w.url, header, body.Bytes())
}

// sign makes the headers of one request (RFC 9421 §2.5, §3.3.3).
func (w *Webhook) sign(body []byte) (http.Header, error) {
	sum := sha256.Sum256(body)
	digest := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
	u, err := url.Parse(w.url)
	if err != nil {
		return nil, netguard.ErrURL
	}
	if u.Path == "" {
		u.Path = "/" // as it is sent
	}
	input := fmt.Sprintf(`("@method" "@target-uri" "content-type" "content-digest");created=%d;keyid="%s";alg="hmac-sha256"`, w.now().Unix(), w.key)
	base := "\"@method\": POST\n\"@target-uri\": " + u.String() + "\n\"content-type\": " + batchType + "\n\"content-digest\": " + digest +
		"\n\"@signature-params\": " + input
	mac := hmac.New(sha256.New, w.secret)
	mac.Write([]byte(base))
	return http.Header{"Content-Type": {batchType}, "Content-Digest": {digest}, "Signature-Input": {"sig1=" + input},
		"Signature": {"sig1=:" + base64.StdEncoding.EncodeToString(mac.Sum(nil)) + ":"}}, nil
}
