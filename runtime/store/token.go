package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// token is the content of a continue parameter, as in kube-apiserver.
type token struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start,omitempty"`
	// Raw replaces a Start that JSON can't represent: such keys exist where another program wrote them.
	Raw []byte `json:"raw,omitempty"`
}

const tokenVersion = "meta.k8s.io/v1" //nolint:gosec // G101: a continue token is no credential

// EncodeToken returns the parameter that continues a list below prefix at the key from. A revision of -1 is the current
// one at that time.
func EncodeToken(prefix, from string, revision int64) (string, error) {
	start, ok := strings.CutPrefix(from, prefix)
	if !ok || start == "" {
		return "", fmt.Errorf("key %q is not below %q", from, prefix)
	}
	t := token{Version: tokenVersion, Revision: revision, Start: start}
	if !encodable(start) {
		t.Start, t.Raw = "", []byte(start)
	}
	data, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(data), nil
}

// DecodeToken returns the key that a list continues at, which is always below prefix, whatever the client sent.
func DecodeToken(parameter, prefix string) (from string, revision int64, err error) {
	bad := func(format string, args ...any) (string, int64, error) {
		return "", 0, apierrors.NewBadRequest("invalid continue token: continue key is not valid: " +
			fmt.Sprintf(format, args...))
	}
	data, err := base64.RawURLEncoding.DecodeString(parameter)
	if err != nil {
		return bad("%v", err)
	}
	var t token
	if err := json.Unmarshal(data, &t); err != nil {
		return bad("%v", err)
	}
	switch {
	case t.Version != tokenVersion:
		return bad("server does not recognize this encoded version %v", t.Version)
	case t.Revision == 0 || t.Revision < -1:
		return bad("incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "" && len(t.Raw) > 0 && !encodable(string(t.Raw)):
		return prefix + string(t.Raw), t.Revision, nil
	case t.Start == "":
		return bad("encoded start key empty (version %s)", tokenVersion)
	}
	start := strings.TrimPrefix(t.Start, "/")
	if !encodable(start) {
		return bad("%s", t.Start)
	}
	return prefix + start, t.Revision, nil
}

// encodable tells whether a token can have a start as it is: it must be valid UTF-8, and path.Clean must not change it.
func encodable(start string) bool {
	rooted := "/" + start
	return path.Clean(rooted) == rooted && rooted != "/" && utf8.ValidString(start)
}
