package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Tokens authenticates by a bearer token from a fixed set. It keeps tokens as hashes, so that the time of a lookup
// doesn't depend on how much of a token is right.
type Tokens struct {
	users map[[sha256.Size]byte]*User
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
	if t.users[sha256.Sum256([]byte(token))] != nil {
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
	if t.users == nil {
		t.users = map[[sha256.Size]byte]*User{}
	}
	t.users[sha256.Sum256([]byte(token))] = user
}

// Authenticate implements Authenticator. Scripts in browsers can't set headers on WebSockets, and send the token as one
// of the protocols that they offer. Authenticate removes it from these, since the server sends back one of them.
func (t *Tokens) Authenticate(r *http.Request) (*User, error) {
	token := bearerToken(r)
	var protocols []string
	if token == "" {
		var err error
		if token, protocols, err = protocolToken(r); err != nil || token == "" {
			return nil, err
		}
	}
	user := t.users[sha256.Sum256([]byte(token))]
	if user == nil {
		return nil, errors.New("the bearer token is not known")
	}
	if protocols != nil {
		r.Header.Set(protocolHeader, strings.Join(protocols, ", "))
	}
	return user, nil
}

func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

const (
	protocolHeader = "Sec-Websocket-Protocol"
	//nolint:gosec // G101: what credentials begin with is none
	tokenProtocol = "base64url.bearer.authorization.k8s.io."
)

// protocolToken returns the token among a WebSocket's protocols, and the others, one of which is sent back.
func protocolToken(r *http.Request) (token string, others []string, err error) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return "", nil, nil
	}
	for _, header := range r.Header[protocolHeader] {
		for protocol := range strings.SplitSeq(header, ",") {
			protocol = strings.TrimSpace(protocol)
			encoded, isToken := strings.CutPrefix(protocol, tokenProtocol)
			if !isToken {
				others = append(others, protocol)
				continue
			}
			decoded, err := base64.RawURLEncoding.DecodeString(encoded)
			if err != nil || len(decoded) == 0 {
				return "", nil, errors.New("the protocol that bears a token is no base64url")
			}
			if token != "" {
				return "", nil, errors.New("two protocols bear a token")
			}
			token = string(decoded)
		}
	}
	if token != "" && len(others) == 0 {
		return "", nil, errors.New("beside the protocol that bears a token there is none to choose")
	}
	return token, others, nil
}
