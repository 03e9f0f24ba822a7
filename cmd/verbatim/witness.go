package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-de4804fb/verbatim/audit"
	observer "github.com/seed-de4804fb/verbatim/audit/witness"
	"github.com/seed-de4804fb/verbatim/keys"
)

// witnessHome is what a witness is found by: its directory and its name.
type witnessHome struct{ dir, name string }

func (w *witnessHome) flags(c *cobra.Command) {
	c.Flags().StringVar(&w.dir, "dir", "", "directory of the witness: its key and what it has signed")
	c.Flags().StringVar(&w.name, "name", "", "name of its key, such as witness.example/w1")
}

func (w *witnessHome) signer() (*keys.Signer, error) {
	if w.dir == "" || w.name == "" {
		return nil, usage("name the witness's directory with --dir and its key with --name")
	}
	ring, err := keys.OpenRing(filepath.Join(w.dir, "keys"))
	if err != nil {
		return nil, err
	}
	return ring.Signer(keys.Witnesses)
}

func witnessCommand(s streams) *cobra.Command {
	var at witnessHome
	var listen string
	var logs []string
	c := &cobra.Command{
		Use:   "witness",
		Short: "Sign checkpoints of other homes' logs, so that they cannot be rewritten unseen",
		Long: "Sign checkpoints of the logs whose keys --log names, as C2SP tlog-witness says. Run it where nobody who can write those homes\n" +
			"can: it signs only what goes on from what it has signed before, and needs no access to them. It has a key and a store of its own.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			signer, err := at.signer()
			if err != nil {
				return err
			}
			if len(logs) == 0 {
				return usage("name the keys of the logs with --log; verbatim audit keys prints them")
			}
			trust, err := trustFiles(logs)
			if err != nil {
				return err
			}
			log := slog.New(slog.NewTextHandler(s.err, nil))
			w, err := observer.New(observer.Config{Name: at.name, Key: signer, Dir: filepath.Join(at.dir, "logs"), Logs: trust, Log: log})
			if err != nil {
				return err
			}
			return errors.Join(serveWitness(cmd.Context(), s, listen, w), w.Close())
		},
	}
	at.flags(c)
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:7434", "address; put a server with TLS before it to be reached from elsewhere")
	c.Flags().StringArrayVar(&logs, "log", nil, "file with the public keys of a log; may come again")
	c.AddCommand(witnessKey(s))
	return c
}

func witnessKey(s streams) *cobra.Command {
	var at witnessHome
	c := &cobra.Command{
		Use:   "key",
		Short: "Print the witness's public key, for homes and for audit verify; it is made on first use",
		Args:  cobra.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			signer, err := at.signer()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, audit.WitnessKey(at.name, signer.Public()[0]))
			return err
		},
	}
	at.flags(c)
	return c
}

func serveWitness(ctx context.Context, s streams, listen string, w http.Handler) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Fprintln(s.out, "witness: http://"+l.Addr().String())
	server := &http.Server{Handler: w, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second,
		WriteTimeout: 30 * time.Second, MaxHeaderBytes: 64 << 10}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := server.Shutdown(ending); err != nil {
		return errors.Join(err, server.Close())
	}
	return nil
}

// How often checkpoints are handed to witnesses, and when it is said that
// one has not signed for too long.
const (
	witnessEvery = time.Second
	unwitnessed  = time.Minute
)

// watcher is one witness of this home.
type watcher struct {
	url    string
	client *observer.Client
	since  time.Time // since when it has not signed; zero: it has
	said   bool
}

// newWatchers reads the witnesses of the configuration.
func (p *parts) newWatchers() (out []*watcher, err error) {
	for i, w := range p.cfg.Witnesses {
		trust, err := audit.NewTrust(w.Key)
		if err != nil {
			return nil, fmt.Errorf("witnesses[%d]: %w", i, err)
		}
		out = append(out, &watcher{url: w.URL, client: observer.NewClient(w.URL, trust)})
	}
	return out, nil
}

// beWitnessed hands the newest checkpoint to each witness, every second, until
// ctx ends. It holds nothing up; a witness that does not sign is told of.
func (p *parts) beWitnessed(ctx context.Context, watchers []*watcher) {
	tick := time.NewTicker(witnessEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, w := range watchers {
			_, err := w.client.Turn(ctx, p.store)
			if ctx.Err() != nil {
				return
			}
			w.tell(p.log, err)
		}
	}
}

func (w *watcher) tell(log *slog.Logger, err error) {
	switch {
	case err == nil && w.said:
		log.Info("the witness signs the log again", "witness", w.url)
		fallthrough
	case err == nil:
		w.since, w.said = time.Time{}, false
	case w.since.IsZero():
		w.since = time.Now()
	case !w.said && time.Since(w.since) > unwitnessed, !w.said && errors.Is(err, observer.ErrWitness):
		w.said = true
		log.Error("the witness has not signed the log", "witness", w.url, "since", w.since.UTC().Format(time.RFC3339), "error", err)
	}
}

// witnessedOutsides asks witnesses for the newest checkpoint of a log.
func witnessedOutsides(ctx context.Context, urls []string, origin string, trust audit.Trust) (out []audit.Outside, err error) {
	for _, url := range urls {
		signed, err := observer.NewClient(url, trust).Latest(ctx, origin)
		if err != nil {
			return nil, hinted(fmt.Errorf("%s: %w", url, err), "its public key must be in a file of --key; the command witness key prints it")
		}
		out = append(out, audit.Outside{Name: url, Signed: signed})
	}
	return out, nil
}
