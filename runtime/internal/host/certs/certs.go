// Package certs keeps the certificates of a server alive: those that its operator names are read again when their files
// change, and those that the server makes itself, with an authority of its own, are renewed before they end. Neither
// needs a restart, and neither touches connections that are open.
//
// A Keeper is the running server's view. Authority is the view of commands, which change the files of a directory; a
// server that runs on the directory takes the change. It may know packages auth and reload.
package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/reload"
)

// Options configures a Keeper.
type Options struct {
	// Dir has the authority, and the certificates that the server makes.
	Dir string
	// Names are the names and addresses in the serving certificate that the server makes.
	Names []string
	// Given are the certificates that the operator named; nil is none.
	Given *Given
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	Log *slog.Logger
}

// Keeper keeps certificates alive. GetCertificate and State are safe for concurrent use; Sync and Follow are not.
type Keeper struct {
	options   Options
	authority *reload.Files[*Authority]
	server    *kept // nil if the operator named a serving certificate
	admin     *kept
	state     atomic.Pointer[State]
}

// State is what the certificates are at one moment. It is immutable.
type State struct {
	// Roots are the authorities of clients: the server's own, and those that the operator named. A change of them is a
	// new pool.
	Roots *x509.CertPool
	// ClientCA are the certificates in Roots, in PEM.
	ClientCA []byte
	// Trust has the certificates by which clients know the server.
	Trust []byte
	// Admin is the client certificate of the administrator.
	Admin Pair
	// Ends are the times at which certificates end: ca, the server's own authority; server, the certificate that most
	// clients see; and admin.
	Ends map[string]time.Time

	serving *choice
}

// kept is a certificate that the server made, and renews.
type kept struct {
	leaf
	pair *tls.Certificate
	// failure is the last error, which is logged once.
	failure string
}

// Open reads the certificates, and makes those that don't exist.
func Open(options Options) (*Keeper, error) {
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Given == nil {
		options.Given = &Given{}
	}
	k := &Keeper{options: options, admin: &kept{leaf: administrator()}}
	if options.Given.serving == nil {
		k.server = &kept{leaf: serving(options.Names)}
	}
	var err error
	if k.authority, err = createAuthority(options.Dir, options.Now); err != nil {
		return nil, err
	}
	for _, l := range k.kept() {
		if err := l.sync(k.authority.Value()); err != nil {
			return nil, err
		}
	}
	k.warn()
	state, err := k.newState(nil, true)
	if err != nil {
		return nil, err
	}
	k.state.Store(state)
	return k, nil
}

func (k *Keeper) kept() []*kept {
	if k.server == nil {
		return []*kept{k.admin}
	}
	return []*kept{k.server, k.admin}
}

// State returns the present state.
func (k *Keeper) State() *State { return k.state.Load() }

// GetCertificate is for tls.Config: it returns the serving certificate for what a client says in its first message.
func (k *Keeper) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	return k.state.Load().serving.of(hello), nil
}

// Follow calls Sync at every tick until ctx ends, and apply with every new state. The new serving certificates are
// in force before apply is called.
func (k *Keeper) Follow(ctx context.Context, ticks <-chan time.Time, apply func(*State)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		if state, changed := k.Sync(); changed {
			apply(state)
		}
	}
}

// Sync reads the files again, and renews certificates of the server that end soon. What is broken is logged and stays
// as it was. Sync reports whether the state changed.
func (k *Keeper) Sync() (state *State, changed bool) {
	before := k.state.Load()
	trust, serving := k.options.Given.reload(k.take)
	if k.take("the server's own certificate authority", k.reloadAuthority, k.authority.Paths()) {
		trust = true
	}
	for _, l := range k.kept() {
		if k.renew(l) {
			serving = true
		}
	}
	if !trust && !serving {
		return before, false
	}
	state, err := k.newState(before, trust)
	if err != nil {
		k.options.Log.Error("the certificates stay as they were", "error", err)
		return before, false
	}
	k.state.Store(state)
	return state, true
}

func (k *Keeper) reloadAuthority() (changed bool, err error) {
	err = locked(k.options.Dir, func() error {
		changed, err = k.authority.Reload()
		return err
	})
	return changed, err
}

// take reloads files, and logs what comes of it.
func (k *Keeper) take(name string, reload func() (bool, error), paths []string) bool {
	changed, err := reload()
	if err != nil {
		k.options.Log.Error("certificates could not be reloaded, the previous ones stay in use", "of", name,
			"files", paths, "error", err)
	}
	if changed {
		k.options.Log.Info("certificates were reloaded", "of", name, "files", paths)
	}
	return changed
}

func (k *Keeper) renew(l *kept) (changed bool) {
	before := l.pair
	err := l.sync(k.authority.Value())
	if err != nil && err.Error() != l.failure {
		k.options.Log.Error("a certificate of the server could not be renewed", "name", l.name, "error", err)
	}
	l.failure = ""
	if err != nil {
		l.failure = err.Error()
	}
	if l.pair == before {
		return false
	}
	k.options.Log.Info("the server has a new certificate of its own", "name", l.name, "until", l.pair.Leaf.NotAfter)
	k.warn()
	return true
}

// ending is how long before the end of its authority the server warns.
const ending = authorityLife / 10

func (k *Keeper) warn() {
	if ends := k.authority.Value().Ends(); k.options.Now().Add(ending).After(ends) {
		k.options.Log.Warn("the server's own certificate authority ends; see `certs renew --ca`", "until", ends)
	}
}

// sync finds the pair in force: that in the directory, which a command may have renewed; or that which is used already;
// or a new one. It leaves a good pair in the directory alone, which another server keeps there for other names.
func (l *kept) sync(a *Authority) error {
	stored, err := a.read(l.name)
	if err == nil && a.fits(stored, l.leaf) {
		if l.pair == nil || !l.pair.Leaf.Equal(stored.Leaf) {
			l.pair = stored
		}
		return nil
	}
	used := l.pair != nil && a.fits(l.pair, l.leaf)
	if used && err == nil && a.good(stored) {
		return nil
	}
	if unreadable(err) {
		return err
	}
	return locked(a.dir, func() error {
		if stored, err := a.read(l.name); err == nil && a.fits(stored, l.leaf) {
			l.pair = stored // somebody else was faster
			return nil
		}
		if used {
			return a.keep(l.name, l.pair)
		}
		made, err := a.issue(l.leaf)
		if made != nil {
			l.pair = made
		}
		return err
	})
}

// newState makes the state of what was read. It keeps the roots of the state before unless trust changed.
func (k *Keeper) newState(before *State, trust bool) (*State, error) {
	authority, given := k.authority.Value(), k.options.Given
	state := &State{Trust: authority.Trust()}
	if trust {
		all := slices.Concat(authority.certs, given.authorities())
		state.Roots, state.ClientCA = x509.NewCertPool(), encodeCertificates(all)
		for _, cert := range all {
			state.Roots.AddCert(cert)
		}
	} else {
		state.Roots, state.ClientCA = before.Roots, before.ClientCA
	}
	var pair *tls.Certificate
	if k.server != nil {
		pair = k.server.pair
	} else {
		pair = given.serving.Value().pair
		state.Trust = given.serving.Value().pem
	}
	state.serving = newChoice(pair, given.named)
	state.Ends = map[string]time.Time{
		"ca": authority.Ends(), "server": pair.Leaf.NotAfter, "admin": k.admin.pair.Leaf.NotAfter,
	}
	var err error
	state.Admin, err = encodePair(k.admin.pair)
	return state, err
}
