package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// step is one action of a user, for kubectl and for plain HTTPS.
type step struct {
	say string
	// kubectl holds kubectl's arguments, and stdin its standard input.
	kubectl string
	// method, path and body are the equivalent request. An empty contentType means JSON.
	method, path, contentType string
	body                      string
	stdin                     string
	// want lists texts that the answer must contain. If fails is set, the step must fail with that text in its answer.
	want  []string
	fails string
}

const (
	base   = "/apis/shop.example.com/v1/namespaces/default/widgets"
	sample = base + "/widget-sample"
	widget = `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"widget-sample","namespace":"default"},"spec":{"color":"green"}}`
)

// drive uses the server as a user does, and kills it on the way.
func drive(ctx context.Context, c client, s *server) error {
	for _, st := range []step{
		{say: "What does it serve?", kubectl: "api-resources --api-group=shop.example.com",
			method: "GET", path: "/apis/shop.example.com/v1", want: []string{"widgets", "shop.example.com/v1", "Widget"}},
		{say: "What is a widget?", kubectl: "explain widget.spec.size",
			method: "GET", path: "/openapi/v3/apis/shop.example.com/v1", want: []string{"Size is the number of copies that the user asks for"}},
		{say: "Create one.", kubectl: "create -f config/samples/widget.yaml", method: "POST", path: base, body: widget, want: []string{"widget-sample"}},
		{say: "See it, with its defaults.", kubectl: "get widgets", method: "GET", path: base, want: []string{"widget-sample", "1"}},
		{kubectl: "get widget widget-sample -o yaml", method: "GET", path: sample, want: []string{"color", "green", "size", "generation"}},
	} {
		if _, err := do(ctx, c, st); err != nil {
			return err
		}
	}
	if err := conflict(ctx, c); err != nil {
		return err
	}
	if err := watch(ctx, c); err != nil {
		return err
	}
	if err := crash(ctx, c, s); err != nil {
		return err
	}
	for _, st := range []step{
		{say: "What is wrong is refused, in Kubernetes' words.", kubectl: `patch widget widget-sample --type=merge -p {"spec":{"size":-1}}`,
			method: "PATCH", path: sample, contentType: "application/merge-patch+json", body: `{"spec":{"size":-1}}`, fails: "must not be negative"},
		{say: "Delete it.", kubectl: "delete widget widget-sample", method: "DELETE", path: sample, want: []string{"widget-sample"}},
		{kubectl: "get widget widget-sample", method: "GET", path: sample, fails: `widgets.shop.example.com "widget-sample" not found`},
	} {
		if _, err := do(ctx, c, st); err != nil {
			return err
		}
	}
	return nil
}

// conflict updates from a state that is no longer the latest.
func conflict(ctx context.Context, c client) error {
	old, err := c.object(ctx)
	if err != nil {
		return err
	}
	for _, st := range []step{
		{say: "A JSON patch, and a merge patch.", kubectl: `patch widget widget-sample --type=json -p [{"op":"replace","path":"/spec/color","value":"red"}]`,
			method: "PATCH", path: sample, contentType: "application/json-patch+json", body: `[{"op":"replace","path":"/spec/color","value":"red"}]`, want: []string{"widget-sample"}},
		{kubectl: `patch widget widget-sample --type=merge -p {"spec":{"size":3}}`,
			method: "PATCH", path: sample, contentType: "application/merge-patch+json", body: `{"spec":{"size":3}}`, want: []string{"widget-sample"}},
		{kubectl: "get widgets --field-selector=spec.color=red", method: "GET", path: base + "?fieldSelector=spec.color%3Dred", want: []string{"widget-sample", "3"}},
		{say: "An update of a state that is no longer the latest is a conflict.", kubectl: "replace -f -", stdin: old,
			method: "PUT", path: sample, body: old, fails: "the object has been modified"},
	} {
		if _, err := do(ctx, c, st); err != nil {
			return err
		}
	}
	return nil
}

// watch shows that changes come as events.
func watch(ctx context.Context, c client) error {
	say("A watch shows what happens while it happens.")
	w, err := c.watch(ctx)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.expect(ctx, "ADDED", "widget-sample"); err != nil {
		return err
	}
	for _, st := range []step{
		{kubectl: "label widget widget-sample shelf=a3", method: "PATCH", path: sample, contentType: "application/merge-patch+json",
			body: `{"metadata":{"labels":{"shelf":"a3"}}}`, want: []string{"widget-sample"}},
		{kubectl: "create -f -", stdin: strings.Replace(widget, "widget-sample", "second", 1),
			method: "POST", path: base, body: strings.Replace(widget, "widget-sample", "second", 1), want: []string{"second"}},
		{kubectl: "delete widget second", method: "DELETE", path: base + "/second", want: []string{"second"}},
	} {
		if _, err := do(ctx, c, st); err != nil {
			return err
		}
	}
	for _, want := range [][2]string{{"MODIFIED", "widget-sample"}, {"ADDED", "second"}, {"DELETED", "second"}} {
		if err := w.expect(ctx, want[0], want[1]); err != nil {
			return err
		}
	}
	return nil
}

// crash kills the server without warning and checks that nothing is lost.
func crash(ctx context.Context, c client, s *server) error {
	before, err := c.object(ctx)
	if err != nil {
		return err
	}
	say("Kill the server with -9, and start it again: nothing is lost.")
	fmt.Println("$ kill -9 %1")
	s.kill()
	if err := s.start(ctx); err != nil {
		return err
	}
	if err := c.reconnect(); err != nil {
		return err
	}
	if _, err := do(ctx, c, step{kubectl: "get widgets --show-labels", method: "GET", path: base, want: []string{"widget-sample", "shelf", "a3"}}); err != nil {
		return err
	}
	after, err := c.object(ctx)
	if err != nil {
		return err
	}
	if !sameJSON(before, after) {
		return fmt.Errorf("the object changed over the crash:\n%s\n%s", before, after)
	}
	fmt.Println("# The object is the same to the letter, resourceVersion and uid included.")
	return nil
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return fmt.Sprint(x) == fmt.Sprint(y)
}

// do makes a step and checks its answer.
func do(ctx context.Context, c client, st step) (string, error) {
	if st.say != "" {
		say("%s", st.say)
	}
	answer, failed := c.run(ctx, st)
	switch {
	case st.fails == "" && failed:
		return "", fmt.Errorf("the step failed: %s", st.kubectl)
	case st.fails != "" && !failed:
		return "", fmt.Errorf("the step should have failed: %s", st.kubectl)
	case st.fails != "" && !strings.Contains(answer, st.fails):
		return "", fmt.Errorf("the step should have failed with %q: %s", st.fails, st.kubectl)
	}
	for _, want := range st.want {
		if !strings.Contains(answer, want) {
			return "", fmt.Errorf("the answer to %q lacks %q", st.kubectl, want)
		}
	}
	return answer, nil
}
