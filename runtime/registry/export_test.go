package registry

import (
	"encoding/base64"
	"fmt"
)

// EncodeTokenForTest makes any continue token, also one that the server never gave out.
func EncodeTokenForTest(revision int64, start string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"v":"meta.k8s.io/v1","rv":%d,"start":%q}`, revision,
		start))
}
