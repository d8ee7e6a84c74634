package cluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	// interval is how often a replica looks at the Secret and at the APIServices.
	interval = 30 * time.Second
	// soon is how long a replica without a certificate waits before it tries again.
	soon = 2 * time.Second
	// roundWithin bounds a round.
	roundWithin = time.Minute
	// attempts bounds the updates of the Secret in a round.
	attempts = 8
)

// keeper keeps the certificate of one replica, and with the keepers of the others the authority and the APIServices.
// getCertificate may be called concurrently; all else belongs to the hook.
type keeper struct {
	cluster         *client
	secret, service name
	apiServices     []string
	now             func() time.Time
	log             *slog.Logger

	leaf atomic.Pointer[tls.Certificate] // nil until the Secret was read
	// failure is the last error, and strange the APIServices that aren't the server's to keep. Each is logged once.
	failure string
	strange []string
}

// getCertificate returns the leaf for clients that ask for the Service, and those of others for other clients.
func (k *keeper) getCertificate(others func(*tls.ClientHelloInfo) (*tls.Certificate, error),
) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	hosts := k.service.hosts()
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if leaf := k.leaf.Load(); leaf != nil && slices.Contains(hosts, strings.ToLower(hello.ServerName)) {
			return leaf, nil
		}
		if others == nil {
			return nil, nil // the server's only certificate
		}
		return others(hello)
	}
}

// start waits until the replica has a certificate: before that, the cluster can't send it requests.
func (k *keeper) start(ctx context.Context) error {
	for {
		k.round(ctx)
		if k.leaf.Load() != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(soon):
		}
	}
}

func (k *keeper) run(ctx context.Context) error {
	defer k.cluster.http.CloseIdleConnections()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			k.round(ctx)
		}
	}
}

// round syncs once, and logs an error unless the round before had the same one.
func (k *keeper) round(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, roundWithin)
	defer cancel()
	err := k.sync(ctx)
	switch {
	case err == nil:
		k.failure = ""
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
	case err.Error() != k.failure:
		k.failure = err.Error()
		k.log.Error("the certificate for the cluster could not be kept", "secret", k.secret.String(), "error", err)
	}
}

// sync reads the Secret, signs a leaf if one is due, writes the bundle to the APIServices, and makes the steps that are
// due in the replacement of the authority. It signs only with an authority that it has just read: step 4 of a
// replacement relies on that.
func (k *keeper) sync(ctx context.Context) error {
	for range attempts {
		read, err := k.cluster.secret(ctx, k.secret)
		if err != nil {
			return err
		}
		current, err := parseState(read.data)
		if err != nil {
			return fmt.Errorf("the Secret %s: %w; to begin anew, remove all of its data", k.secret, err)
		}
		after, done, err := k.advance(ctx, current)
		if after == nil {
			return err
		}
		switch written := k.write(ctx, read, after); {
		case apierrors.IsConflict(written):
			continue // another replica was faster
		case written != nil:
			return errors.Join(err, written)
		}
		k.log.Info(done, "secret", k.secret.String(), "until", after.signer.cert.NotAfter)
	}
	return fmt.Errorf("the Secret %s changes all the time", k.secret)
}

// advance does what a state asks for, and returns the state that should follow; nil if none should.
func (k *keeper) advance(ctx context.Context, current *state) (after *state, done string, err error) {
	if current == nil {
		after, err = first(k.service, k.now())
		return after, "the Secret was empty, and there is a new authority", err
	}
	if !current.signer.ended(k.now()) {
		if err := k.renew(current.signer); err != nil {
			return nil, "", err
		}
	}
	published, failed := k.publish(ctx, current.bundle())
	after, done, err = current.step(k.service, k.now(), published)
	return after, done, errors.Join(failed, err)
}

func (k *keeper) write(ctx context.Context, read *secret, s *state) error {
	if err := s.write(read.data); err != nil {
		return err
	}
	return k.cluster.update(ctx, k.secret, read)
}

func (k *keeper) renew(signer *authority) error {
	if signer.fits(k.leaf.Load(), k.service.hosts(), k.now()) {
		return nil
	}
	leaf, err := signer.leaf(k.service.hosts(), k.now())
	if err != nil {
		return err
	}
	k.leaf.Store(leaf)
	k.log.Info("the replica has a new certificate for the cluster", "until", leaf.Leaf.NotAfter)
	return nil
}

// publish writes the bundle to the APIServices of the server, and reports whether all of them have it now.
func (k *keeper) publish(ctx context.Context, bundle []byte) (published bool, err error) {
	var failures []error
	for _, name := range k.apiServices {
		has, err := k.publishTo(ctx, name, bundle)
		published = published || has
		failures = append(failures, err)
	}
	err = errors.Join(failures...)
	return published && err == nil, err
}

// publishTo writes the bundle to an APIService, and reports whether the APIService is of the server and has it. One
// that doesn't exist, or that the server may not read, is none of the deployment: the cluster serves the version
// itself.
func (k *keeper) publishTo(ctx context.Context, name string, bundle []byte) (bool, error) {
	found, err := k.cluster.apiService(ctx, name)
	switch {
	case apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		k.skip(name, err.Error())
		return false, nil
	case err != nil:
		return false, err
	}
	to := found.Spec.Service
	switch {
	case to == nil || to.Namespace != k.service.namespace || to.Name != k.service.name:
		k.skip(name, "it leads to another server")
		return false, nil
	case found.Spec.Insecure:
		k.skip(name, "it has insecureSkipTLSVerify, so that kube-apiserver believes everybody")
		return true, nil
	case string(found.Spec.CABundle) == string(bundle):
		return true, nil
	}
	if err := k.cluster.setBundle(ctx, name, bundle); err != nil {
		return false, err
	}
	k.log.Info("the APIService has new authorities", "apiservice", name)
	return true, nil
}

func (k *keeper) skip(name, why string) {
	if line := name + ": " + why; !slices.Contains(k.strange, line) {
		k.strange = append(k.strange, line)
		k.log.Warn("the caBundle of an APIService is not kept", "apiservice", name, "reason", why)
	}
}
