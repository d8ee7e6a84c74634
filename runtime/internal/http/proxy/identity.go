package proxy

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
)

// The headers in which a front proxy names the user.
const (
	userHeader  = "X-Remote-User"
	uidHeader   = "X-Remote-Uid"
	groupHeader = "X-Remote-Group"
	extraPrefix = "X-Remote-Extra-"
	// protocolHeader has the protocols of a WebSocket. One that begins with tokenProtocol is a bearer token.
	protocolHeader = "Sec-Websocket-Protocol"
	tokenProtocol  = "base64url.bearer.authorization.k8s.io." //nolint:gosec // G101: what tokens begin with is none
)

// removed are the headers of a client that a backend must not see, and removedPrefixes how others of them begin:
// those in which front proxies name users, those of impersonation, which this server has carried out, and credentials.
var (
	removed = []string{
		userHeader, uidHeader, groupHeader, "Authorization", "Proxy-Authorization", "Cookie", "Cookie2",
	}
	removedPrefixes = []string{extraPrefix, "Impersonate-"}
)

// removeIdentity deletes the headers by which a client could say who it is, and the credentials that it sent, those too
// that this server didn't need. An underscore counts as a hyphen: to a backend behind a gateway interface they are one.
func removeIdentity(header http.Header) {
	for name := range header {
		spelled := strings.ReplaceAll(name, "_", "-")
		is := func(other string) bool { return strings.EqualFold(spelled, other) }
		begins := func(prefix string) bool {
			return len(name) >= len(prefix) && strings.EqualFold(spelled[:len(prefix)], prefix)
		}
		if slices.ContainsFunc(removed, is) || slices.ContainsFunc(removedPrefixes, begins) {
			delete(header, name)
			continue
		}
		if is(protocolHeader) {
			if kept := withoutTokens(header[name]); len(kept) > 0 {
				header[name] = kept
			} else {
				delete(header, name)
			}
		}
	}
}

// withoutTokens returns the protocols of a WebSocket without those that bear a token.
func withoutTokens(lines []string) (kept []string) {
	for _, line := range lines {
		protocols := strings.Split(line, ",")
		others := slices.DeleteFunc(protocols, func(protocol string) bool {
			protocol = strings.TrimSpace(protocol)
			return len(protocol) >= len(tokenProtocol) &&
				strings.EqualFold(protocol[:len(tokenProtocol)], tokenProtocol)
		})
		if len(others) > 0 {
			kept = append(kept, strings.TrimSpace(strings.Join(others, ",")))
		}
	}
	return kept
}

// setIdentity names a user in a header.
func setIdentity(header http.Header, user *auth.User) {
	header[userHeader] = []string{user.Name}
	if user.UID != "" {
		header[uidHeader] = []string{user.UID}
	}
	if len(user.Groups) > 0 {
		header[groupHeader] = slices.Clip(user.Groups)
	}
	for key, values := range user.Extra {
		if len(values) > 0 {
			name := http.CanonicalHeaderKey(extraPrefix + escapeKey(key))
			header[name] = append(header[name], values...)
		}
	}
}

// checkIdentity returns an error if a backend would read another user in the headers than the given one: HTTP trims
// values, so that a group " system:masters" would arrive as another group, and has no line breaks in them.
func checkIdentity(user *auth.User) error {
	if !survives(user.Name) {
		return unsendable("name", user.Name)
	}
	if !survives(user.UID) {
		return unsendable("UID", user.UID)
	}
	for _, group := range user.Groups {
		if !survives(group) {
			return unsendable("group", group)
		}
	}
	for key, values := range user.Extra {
		for _, value := range values {
			if !survives(value) {
				return unsendable("extra "+key, value)
			}
		}
	}
	return nil
}

func unsendable(what, value string) error {
	return fmt.Errorf("the user's %s %q can't be passed on in a header: it begins or ends with a space, or has "+
		"control characters", what, value)
}

// survives reports whether the value of a header arrives as it was sent.
func survives(value string) bool {
	if value == "" {
		return true
	}
	if first, last := value[0], value[len(value)-1]; blank(first) || blank(last) {
		return false
	}
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// escapeKey percent-encodes the bytes of a key of User.Extra that the name of a header can't have, and percent signs.
func escapeKey(key string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; isToken(c) && c != '%' {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// isToken reports whether the name of a header may have a byte (RFC 9110, section 5.6.2).
func isToken(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
