// Package tokencache remembers for some seconds which user a bearer token belongs to, as kube-apiserver does, so that
// the same client doesn't make the server verify the same signature, read the same account or ask the same webhook for
// each of its requests.
//
// It may know packages trail, auth and access/meter.
package tokencache

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/audit/trail"
	"golang.org/x/sync/singleflight"
)

// Config configures a cache. Its zero value means kube-apiserver's figures, but for Log and Now.
type Config struct {
	// Success is how long the user of a valid token is remembered, 0 for 10 s; a negative one remembers none. A token
	// that expires earlier is forgotten when it expires.
	Success time.Duration
	// Failure is how long it is remembered that a token is not valid; 0 remembers nothing.
	Failure time.Duration
	// Unknown is how long it is remembered that the authenticator knows no user of a token and has no error; 0 means
	// as long as Failure.
	Unknown time.Duration
	// Size bounds the number of tokens that are remembered; 0 is 32,768.
	Size int
	// Timeout bounds one question to the authenticator; 0 is 30 s.
	Timeout time.Duration
	// Metrics count the questions; nil counts none.
	Metrics *meter.TokenCache
	// Log receives panics of the authenticator; nil means slog.Default().
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Cache is an auth.TokenAuthenticator that asks another one, and remembers its answers. Requests with the same token
// share a question. It holds no tokens, only keyed hashes of them. It is safe for concurrent use.
type Cache struct {
	authenticator auth.TokenAuthenticator
	config        Config
	secret        [sha256.Size]byte
	group         singleflight.Group
	verdicts      *verdicts
}

// New returns a cache in front of an authenticator.
func New(authenticator auth.TokenAuthenticator, config Config) *Cache {
	if config.Success == 0 {
		config.Success = 10 * time.Second
	}
	if config.Size == 0 {
		config.Size = 32 << 10
	}
	if config.Timeout == 0 {
		config.Timeout = 30 * time.Second
	}
	if config.Log == nil {
		config.Log = slog.Default()
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	c := &Cache{authenticator: authenticator, config: config, verdicts: newVerdicts(config.Size)}
	_, _ = rand.Read(c.secret[:]) // it never fails
	return c
}

// verdict is an answer of the authenticator.
type verdict struct {
	identity *auth.Identity
	err      error
}

// errCrashed is what clients of a token learn during whose authentication the authenticator panicked.
var errCrashed = errors.New("authentication failed unexpectedly")

// AuthenticateToken implements auth.TokenAuthenticator. The question of a request is not ended by the end of that
// request, since others may wait for its answer, too.
// It annotates the record of audit of the request, whether the answer was remembered or not.
func (c *Cache) AuthenticateToken(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	identity, err := c.identify(ctx, token, audiences)
	if identity != nil {
		for key, value := range identity.Annotations {
			trail.Annotate(ctx, key, value)
		}
	}
	return identity, err
}

func (c *Cache) identify(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	begin, key := time.Now(), c.key(token, audiences)
	if v, ok := c.verdicts.get(key, c.config.Now()); ok {
		c.config.Metrics.Hit(begin)
		return v.identity, v.err
	}
	defer c.config.Metrics.Miss(begin)()
	answer := c.group.DoChan(string(key[:]), func() (any, error) {
		if v, ok := c.verdicts.get(key, c.config.Now()); ok { // another question was answered just before
			return v, nil
		}
		v := c.ask(context.WithoutCancel(ctx), token, audiences)
		if until := c.until(v); until.After(c.config.Now()) {
			c.verdicts.set(key, v, until)
		}
		return v, nil
	})
	select {
	case result := <-answer:
		v, _ := result.Val.(verdict)
		return v.identity, v.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask asks the authenticator, and survives its panics.
func (c *Cache) ask(ctx context.Context, token string, audiences []string) (v verdict) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	fetched := c.config.Metrics.Fetch()
	defer func() {
		if crash := recover(); crash != nil {
			c.config.Log.ErrorContext(ctx, "an authenticator of tokens panicked", "panic", fmt.Sprint(crash),
				"stack", string(debug.Stack()))
			v = verdict{err: errCrashed}
		}
		fetched(v.err)
	}()
	v.identity, v.err = c.authenticator.AuthenticateToken(ctx, token, audiences)
	return v
}

// until returns how long a verdict may be remembered. It is the zero time for verdicts that must not be.
func (c *Cache) until(v verdict) time.Time {
	now := c.config.Now()
	if v.err == nil && v.identity == nil && c.config.Unknown > 0 {
		return now.Add(c.config.Unknown)
	}
	if v.err != nil || v.identity == nil {
		if c.config.Failure <= 0 || errors.Is(v.err, errCrashed) {
			return time.Time{}
		}
		return now.Add(c.config.Failure)
	}
	if c.config.Success < 0 {
		return time.Time{}
	}
	until := now.Add(c.config.Success)
	if expires := v.identity.Expires; !expires.IsZero() && expires.Before(until) {
		return expires
	}
	return until
}

// key returns the keyed hash of a token and the audiences in question. nil audiences, which are those of the server,
// have another hash than no audiences.
func (c *Cache) key(token string, audiences []string) [sha256.Size]byte {
	count := int64(len(audiences))
	if audiences == nil {
		count = -1
	}
	text := make([]byte, 0, len(token)+64)
	text = appendText(text, token)
	text = binary.BigEndian.AppendUint64(text, uint64(count))
	for _, audience := range audiences {
		text = appendText(text, audience)
	}
	mac := hmac.New(sha256.New, c.secret[:])
	mac.Write(text)
	return [sha256.Size]byte(mac.Sum(nil))
}

// appendText appends text after its length, so that what follows can't be taken for a part of it.
func appendText(to []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint64(to, uint64(len(text))), text...)
}
