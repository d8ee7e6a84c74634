package auth

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// Tokens authenticates by a bearer token from a set. It keeps tokens as hashes, so that the time of a lookup doesn't
// depend on how much of a token is right.
type Tokens struct {
	users atomic.Pointer[map[[sha256.Size]byte]*User]
}

// Replace replaces all tokens by those of another set, for requests that come afterwards.
func (t *Tokens) Replace(other *Tokens) { t.users.Store(other.users.Load()) }

// user returns the user of a token, or nil.
func (t *Tokens) user(token string) *User {
	users := t.users.Load()
	if users == nil {
		return nil
	}
	return (*users)[sha256.Sum256([]byte(token))]
}

// ReadTokens reads the format of kube-apiserver's --token-auth-file: CSV with the columns token, user, uid and,
// optionally, one quoted column of comma-separated groups. Lines that begin with # are comments. name is used in
// errors.
func ReadTokens(r io.Reader, name string) (*Tokens, error) {
	reader := csv.NewReader(r)
	reader.FieldsPerRecord = -1
	reader.Comment = '#'
	tokens := &Tokens{}
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, fmt.Errorf("token file %s: %w", name, err)
		}
		line, _ := reader.FieldPos(0)
		if err := tokens.add(record); err != nil {
			return nil, fmt.Errorf("token file %s:%d: %w", name, line, err)
		}
	}
}

func (t *Tokens) add(record []string) error {
	if len(record) < 3 {
		return fmt.Errorf("%d columns, want token,user,uid and perhaps \"group1,group2\"", len(record))
	}
	token, user, uid := strings.TrimSpace(record[0]), strings.TrimSpace(record[1]), strings.TrimSpace(record[2])
	if token == "" || user == "" {
		return errors.New("the token and the user must not be empty")
	}
	if t.user(token) != nil {
		return errors.New("an earlier line has the same token")
	}
	var groups []string
	if len(record) > 3 {
		for _, group := range strings.Split(record[3], ",") {
			if group = strings.TrimSpace(group); group != "" {
				groups = append(groups, group)
			}
		}
	}
	t.Add(token, &User{Name: user, UID: uid, Groups: groups})
	return nil
}

// Add gives a token to a user. Servers that make their own tokens use it; it must not be called once the server serves
// requests.
func (t *Tokens) Add(token string, user *User) {
	if t.users.Load() == nil {
		t.users.Store(&map[[sha256.Size]byte]*User{})
	}
	(*t.users.Load())[sha256.Sum256([]byte(token))] = user
}

// AuthenticateToken implements TokenAuthenticator. The tokens have no audiences: they are for the server itself.
func (t *Tokens) AuthenticateToken(_ context.Context, token string, _ []string) (*Identity, error) {
	user := t.user(token)
	if user == nil {
		return nil, nil
	}
	return &Identity{User: user}, nil
}
