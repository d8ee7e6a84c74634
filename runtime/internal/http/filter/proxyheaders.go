package filter

import (
	"net/http"
	"strings"
)

// removeProxyHeaders deletes the headers in which proxies usually name a user, so that no handler, and no server behind
// one, believes what a client wrote there. An authenticator that believes a proxy has read them before.
func removeProxyHeaders(header http.Header) {
	for name := range header {
		rest, ok := strings.CutPrefix(name, "X-Remote-")
		if ok && (rest == "User" || rest == "Uid" || rest == "Group" || strings.HasPrefix(rest, "Extra-")) {
			delete(header, name)
		}
	}
}
