package backend

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"apigen.dev/runtime/internal/audit/trail"
)

// Lines is a Target that writes each event as a line of JSON, in one piece.
type Lines struct{ Out io.Writer }

// Append implements Target.
func (l Lines) Append(b []byte, event *trail.Event) ([]byte, error) {
	b, err := event.AppendJSON(b)
	return append(b, '\n'), err
}

// Deliver implements Target.
func (l Lines) Deliver(_ context.Context, events [][]byte) error { return writeEach(l.Out, events) }

func writeEach(out io.Writer, events [][]byte) error {
	for _, event := range events {
		if _, err := out.Write(event); err != nil {
			return err
		}
	}
	return nil
}

// Legacy is a Target that writes a few fields of each event as a line of text, as old versions of Kubernetes did.
type Legacy struct{ Out io.Writer }

// Append implements Target.
func (l Legacy) Append(b []byte, e *trail.Event) ([]byte, error) {
	user, groups := "<none>", "<none>"
	if e.User.Username != "" {
		user, groups = e.User.Username, cmp.Or(quoteAll(e.User.Groups), groups)
	}
	as, asGroups := "<self>", "<lookup>"
	if e.ImpersonatedUser != nil {
		as, asGroups = e.ImpersonatedUser.Username, cmp.Or(quoteAll(e.ImpersonatedUser.Groups), asGroups)
	}
	namespace, response, ip := "<none>", "<deferred>", "<unknown>"
	if e.ObjectRef != nil && e.ObjectRef.Namespace != "" {
		namespace = e.ObjectRef.Namespace
	}
	if e.ResponseStatus != nil {
		response = strconv.Itoa(int(e.ResponseStatus.Code))
	}
	if len(e.SourceIPs) > 0 {
		ip = e.SourceIPs[0]
	}
	return fmt.Appendf(b, "%s AUDIT: id=%q stage=%q ip=%q method=%q user=%q groups=%q as=%q asgroups=%q "+
		"user-agent=%q namespace=%q uri=%q response=%q\n", e.RequestReceivedTimestamp.Format(time.RFC3339Nano),
		e.AuditID, e.Stage, ip, e.Verb, user, groups, as, asGroups, e.UserAgent, namespace, e.RequestURI,
		response), nil
}

// Deliver implements Target.
func (l Legacy) Deliver(_ context.Context, events [][]byte) error { return writeEach(l.Out, events) }

func quoteAll(values []string) string {
	quoted := make([]string, len(values))
	for i, value := range values {
		quoted[i] = strconv.Quote(value)
	}
	return strings.Join(quoted, ",")
}
