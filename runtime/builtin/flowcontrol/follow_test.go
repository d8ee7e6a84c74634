package flowcontrol

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/flow"
	"apigen.dev/runtime/internal/flow/queue"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/internal/request"
)

// TestReload: a changed file is in force after a tick, unless it is not valid.
func TestReload(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairness.yaml")
	write := func(level string) {
		t.Helper()
		text := "apiVersion: flowcontrol.apiserver.k8s.io/v1\nkind: FlowSchema\nmetadata: {name: all}\n" +
			"spec: {priorityLevelConfiguration: {name: " + level + "}, rules: [{subjects: [{kind: Group, group: " +
			`{name: "*"}}], nonResourceRules: [{verbs: ["*"], nonResourceURLs: ["*"]}]}]}` + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("exempt")
	files, err := reload.New(func(contents [][]byte) (objects, error) { return readObjects(contents[0]) }, path)
	if err != nil {
		t.Fatal(err)
	}
	follower := &follower{controller: flow.New(10, queue.RealClock{})}
	if err := follower.use(files.Value()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	var log bytes.Buffer
	go func() {
		defer close(ended)
		followFile(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil)), files, follower)
	}()
	want := func(level string) {
		t.Helper()
		info := &request.Info{Verb: "get", Path: "/version"}
		user := &auth.User{Name: "ann", Groups: []string{"dev"}}
		if _, got := follower.controller.Classify(user, info).Names(); got != level {
			t.Errorf("the level is %s, want %s", got, level)
		}
	}
	tick := func() { // the second one is taken when the first has been served
		ticks <- time.Time{}
		ticks <- time.Time{}
	}
	want("exempt")
	write("catch-all")
	tick()
	want("catch-all")
	write("nobody")
	tick()
	want("catch-all")
	stop()
	<-ended
	if strings.Count(log.String(), "level=ERROR") != 1 || !strings.Contains(log.String(), "nobody") {
		t.Errorf("the log: %s", &log)
	}
}

// TestSuggestedWhileTheyAreCreated: while the objects of a new store come one after the other, requests are of the
// levels that they will have. Once all have been there, those that are deleted have no effect any more.
func TestSuggestedWhileTheyAreCreated(t *testing.T) {
	follower := &follower{controller: flow.New(10, queue.RealClock{})}
	if err := follower.use(suggested()); err != nil {
		t.Fatal(err)
	}
	level := func() string {
		user := &auth.User{Name: "ann", Groups: []string{"system:authenticated"}}
		_, name := follower.controller.Classify(user, &request.Info{Verb: "get", Path: "/version"}).Names()
		return name
	}
	apply := func() {
		t.Helper()
		follower.complete.levels, follower.complete.schemas = true, true
		if _, err := follower.apply(); err != nil {
			t.Fatal(err)
		}
	}
	const usual = "global-default"
	all := suggested()
	clear(follower.levels)
	clear(follower.schemas)
	for _, level := range all.levels {
		follower.levels[level.Name] = level
	}
	for _, schema := range all.schemas {
		if got := level(); got != usual {
			t.Fatalf("before there is %s, the level is %s", schema.Name, got)
		}
		follower.schemas[schema.Name] = schema
		apply()
	}
	delete(follower.schemas, usual)
	apply()
	if got := level(); got != "catch-all" {
		t.Errorf("without the schema, the level is %s", got)
	}
}
