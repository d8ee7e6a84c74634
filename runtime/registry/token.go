package registry

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// token is what a continue parameter holds, in the form that kube-apiserver gives out.
type token struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1" //nolint:gosec // G101: a continue token is no credential

// encodeToken returns the parameter that continues a list below prefix at from, a key. revision -1 is whatever is
// current then.
func encodeToken(prefix, from string, revision int64) (string, error) {
	start, ok := strings.CutPrefix(from, prefix)
	if !ok || start == "" {
		return "", fmt.Errorf("key %q is not below %q", from, prefix)
	}
	data, err := json.Marshal(token{Version: tokenVersion, Revision: revision, Start: start})
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(data), nil
}

// decodeToken returns the key to go on from, which is always below prefix, whatever a client sent.
func decodeToken(parameter, prefix string) (from string, revision int64, err error) {
	bad := func(format string, args ...any) (string, int64, error) {
		return "", 0, apierrors.NewBadRequest("invalid continue token: continue key is not valid: " + fmt.Sprintf(format, args...))
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
		return bad("server does not recognize this encoded version %q", t.Version)
	case t.Revision == 0 || t.Revision < -1:
		return bad("incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "":
		return bad("encoded start key empty (version %s)", tokenVersion)
	}
	// A start that path.Clean would change could name a key outside of the prefix to whoever cleans it later.
	rooted := "/" + strings.TrimPrefix(t.Start, "/")
	if path.Clean(rooted) != rooted || rooted == "/" {
		return bad("%q", t.Start)
	}
	return prefix + rooted[1:], t.Revision, nil
}
