package access

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// send sends a request to the front, and returns the code and the body of the answer, and its audit ID, which must be
// one.
func (c *chained) send(t *testing.T, token, path string, header ...string) (code int, body, auditID string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	response, err := insecure(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	ids := response.Header.Values("Audit-Id")
	if len(ids) != 1 || ids[0] == "" {
		t.Fatalf("%s: audit IDs %q", path, ids)
	}
	return response.StatusCode, string(text), ids[0]
}

// A service account of the front is that service account at the guest, with the rights that it has in the front.
func testServiceAccount(t *testing.T, c *chained) {
	code, body, id := c.send(t, c.viewer, flunders)
	if code != 200 || !strings.Contains(body, "FlunderList") {
		t.Fatalf("%d %s", code, body)
	}
	user := c.spy.user(id)
	if user == nil || user.Name != "system:serviceaccount:shop:viewer" || user.UID == "" ||
		!slices.Contains(user.Groups, "system:serviceaccounts:shop") ||
		len(user.Extra["authentication.kubernetes.io/credential-id"]) != 1 {
		t.Errorf("the guest sees %+v", user)
	}
	if code, body, _ := c.send(t, c.viewer, group+"/namespaces/other/flunders"); code != 403 {
		t.Errorf("another namespace: %d %s", code, body)
	}
	// The guest asks the front by a SubjectAccessReview. A client that comes to it directly is nobody's proxy.
	direct := insecure(t)
	for path, want := range map[string]int{flunders: 200, group + "/namespaces/other/flunders": 403} {
		if code, body := ask(t, direct, c.guest, c.viewer, "GET", path, ""); code != want {
			t.Errorf("at the guest, %s: %d %s", path, code, body)
		}
	}
}

// A user that a request impersonates is the user at the guest, and headers of a client are none of a proxy.
func testImpersonation(t *testing.T, c *chained) {
	as := []string{
		"Impersonate-User", "system:serviceaccount:shop:viewer", "Impersonate-Group", "system:serviceaccounts:shop",
		"Impersonate-Group", "system:authenticated", "Impersonate-Extra-Why", "a test",
	}
	code, body, id := c.send(t, adminToken, flunders, as...)
	if code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	user := c.spy.user(id)
	if user == nil || user.Name != "system:serviceaccount:shop:viewer" ||
		!slices.Contains(user.Groups, "system:serviceaccounts:shop") ||
		slices.Contains(user.Groups, "system:masters") || !slices.Equal(user.Extra["why"], []string{"a test"}) {
		t.Errorf("the guest sees %+v", user)
	}
	if code, body, _ := c.send(t, adminToken, group+"/namespaces/other/flunders", as...); code != 403 {
		t.Errorf("another namespace: %d %s", code, body)
	}
	if code, body, _ := c.send(t, c.viewer, flunders, "Impersonate-User", "admin"); code != 403 {
		t.Errorf("the service account impersonates: %d %s", code, body)
	}
	_, _, id = c.send(t, c.viewer, flunders, "X-Remote-User", "admin", "X-Remote-Group", "system:masters")
	if user := c.spy.user(id); user == nil || user.Name != "system:serviceaccount:shop:viewer" ||
		slices.Contains(user.Groups, "system:masters") {
		t.Errorf("with a proxy's headers, the guest sees %+v", user)
	}
	k := newKubectl(t, c)
	viewer := []string{"--as=system:serviceaccount:shop:viewer", "--as-group=system:serviceaccounts"}
	has(t, k.run(t, "", append(viewer, "get", "flunders")...), "No resources found in shop namespace.")
	const refused = `User "system:serviceaccount:shop:viewer" cannot list resource "flunders"`
	if out, err := k.try(t, "", append(viewer, "get", "flunders", "-A")...); err == nil ||
		!strings.Contains(out, refused) {
		t.Errorf("%v: %s", err, out)
	}
}
