package faults

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With --logging-format=json, each line that the server logs is an object with a time, a level and a message.
func TestJSONLog(t *testing.T) {
	t.Parallel()
	server := startReplica(t, "--logging-format=json", "--tls-min-version=VersionTLS10") // which it warns of
	text, err := os.ReadFile(filepath.Join(server.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	logged := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "serving https://") || strings.HasPrefix(line, "kubeconfig: ") {
			continue // this is the output of the command, and no log
		}
		var entry struct{ Time, Level, Msg string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.Time == "" || entry.Level == "" ||
			entry.Msg == "" {
			t.Errorf("%v: %s", err, line)
		}
		logged++
	}
	if logged == 0 {
		t.Errorf("the server logged nothing: %s", text)
	}
}
