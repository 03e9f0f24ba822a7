package hub

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/seed-de4804fb/verbatim/canon"
	"github.com/seed-de4804fb/verbatim/mcp/gate"
	"github.com/seed-de4804fb/verbatim/mcp/wire"
)

// greet connects and greets in one era.
func (s *server) greet(e era) (*link, error) {
	ctx, cancel := context.WithTimeout(s.hub.end, s.Greeting)
	defer cancel()
	l, err := s.dialled(ctx)
	if err != nil {
		return nil, err
	}
	l.era = e
	if e == modern {
		err = l.discover(ctx)
	} else {
		err = l.initialize(ctx)
	}
	if err != nil {
		if errors.Is(err, errOtherEra) && e == modern && !over(l) {
			s.keep(l)
			return nil, err
		}
		l.Close()
		return nil, err
	}
	if m, ok := l.Transport.(Mirroring); ok && e == modern {
		m.Mirrors(l.mirrors)
	}
	if e == modern {
		go l.subscribe()
	}
	s.log.Info("connected", "era", s.eraName(e))
	return l, nil
}

// keep leaves a connection for the greeting of the other era.
func (s *server) keep(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare = l
}

func (s *server) eraName(e era) string {
	if e == modern {
		return modernVersion
	}
	return "sessions"
}

// clientInfo is what the gateway says of itself. It is not the client's.
func (h *Hub) clientInfo() []byte {
	return canon.ObjectValue(
		canon.Member{Name: "name", Value: canon.StringValue("verbatim")},
		canon.Member{Name: "version", Value: canon.StringValue(h.cfg.Version)},
	).Canonical()
}

// capabilities is what the gateway can do for a server that asks.
func (s *server) capabilities() []byte {
	if s.session != nil {
		return s.session.declaration()
	}
	if s.Asks {
		return []byte(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)
	}
	return []byte(`{}`)
}

// discoverTime is how long a server may think about a method that servers
// before 2026-07-28 do not know.
const discoverTime = 10 * time.Second

func (l *link) discover(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, min(discoverTime, l.server.Greeting/2))
	defer cancel()
	m, err := wire.NewRequest(wire.NumberID(0), "server/discover", []byte("{}"))
	if err == nil {
		m, err = m.Versioned(modernVersion, l.server.hub.clientInfo(), []byte("{}"))
	}
	if err != nil {
		return err
	}
	answer, err := l.Ask(ctx, m, gate.Trip{})
	if err == nil && offersAgain(answer) {
		answer, err = l.Ask(ctx, m, gate.Trip{})
	}
	switch {
	case over(l):
		return fmt.Errorf("the server ended when it was greeted: %w", errors.Join(err, errOtherEra))
	case err != nil && notThere(err):
		return err
	case err != nil: // no answer to this method, or one that is none
		return fmt.Errorf("%w: %w", errOtherEra, err)
	case answer.Kind() != wire.KindResult:
		return errOtherEra
	}
	versions, err := answer.Elements("/result/supportedVersions")
	if err != nil {
		return err
	}
	if !speaks(versions) {
		return errOtherEra
	}
	l.hello = answer.Result()
	return nil
}

// offersAgain: the server refused the version, and names it among those that
// it speaks (MCP 2026-07-28, UnsupportedProtocolVersion).
func offersAgain(answer *wire.Message) bool {
	code, _, err := answer.Member("/error/code")
	if answer.Kind() != wire.KindError || err != nil || string(code) != strconv.Itoa(int(wire.CodeUnsupportedVersion)) {
		return false
	}
	list, err := answer.Elements("/error/data/supported")
	return err == nil && speaks(list)
}

func speaks(versions [][]byte) bool {
	return slices.ContainsFunc(versions, func(raw []byte) bool { text, _ := wire.Text(raw); return text == modernVersion })
}

func (l *link) initialize(ctx context.Context) error {
	params := fmt.Appendf(nil, `{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`,
		legacyVersions[0], l.server.capabilities(), l.server.hub.clientInfo())
	m, err := wire.NewRequest(wire.NumberID(0), "initialize", params)
	if err != nil {
		return err
	}
	answer, err := l.Ask(ctx, m, gate.Trip{})
	if err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	if answer.Kind() != wire.KindResult {
		return errOtherEra
	}
	raw, _, err := answer.Member("/result/protocolVersion")
	if err != nil {
		return err
	}
	if version, ok := wire.Text(raw); !ok || !slices.Contains(legacyVersions, version) {
		return errOtherEra
	}
	l.hello = answer.Result()
	done, err := wire.NewNotification("notifications/initialized", nil)
	if err == nil {
		err = l.Tell(done)
	}
	return err
}

// page asks for one page of the server's tools.
func (l *link) page(ctx context.Context, cursor string) (*wire.Message, error) {
	m, err := gate.ListTools(cursor)
	if err == nil && l.era == modern {
		m, err = m.Versioned(modernVersion, l.server.hub.clientInfo(), []byte("{}"))
	}
	if err != nil {
		return nil, err
	}
	return l.Ask(ctx, m, gate.Trip{})
}

// subscribe holds the stream on which a modern server tells that its lists
// have changed.
func (l *link) subscribe() {
	pause := firstPause
	for !over(l) {
		m, err := wire.NewRequest(wire.NumberID(0), "subscriptions/listen",
			[]byte(`{"notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}}`))
		if err == nil {
			m, err = m.Versioned(modernVersion, l.server.hub.clientInfo(), []byte("{}"))
		}
		if err != nil {
			l.server.log.Error("a subscription could not be built", "error", err)
			return
		}
		began := time.Now()
		answer, err := l.Ask(l.server.hub.end, m, gate.Trip{Beside: l.other})
		if err == nil && answer.Kind() == wire.KindError {
			return // it does not tell
		}
		if time.Since(began) > lastPause {
			pause = firstPause
		}
		// What was changed meanwhile was not told.
		l.changed()
		select {
		case <-l.Gone():
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}
