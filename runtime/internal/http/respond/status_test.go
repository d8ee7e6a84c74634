package respond

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func TestError(t *testing.T) {
	widgets := schema.GroupResource{Group: "shop.example.com", Resource: "widgets"}
	cases := []struct {
		name   string
		err    error
		code   int
		reason metav1.StatusReason
		retry  string
	}{
		{"not found", apierrors.NewNotFound(widgets, "a"), 404, metav1.StatusReasonNotFound, ""},
		{"wrapped", fmt.Errorf("while reading: %w", apierrors.NewConflict(widgets, "a", errors.New("x"))), 409,
			metav1.StatusReasonConflict, ""},
		{"retry", apierrors.NewTooManyRequests("busy", 7), 429, metav1.StatusReasonTooManyRequests, "7"},
		{"cancelled", context.Canceled, 504, metav1.StatusReasonTimeout, ""},
		{"foreign", errors.New("open /secret/path: denied"), 500, metav1.StatusReasonInternalError, ""},
		{"no code", &apierrors.StatusError{}, 500, "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			w.Header().Set("Content-Encoding", "gzip")
			Error(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), c.err)
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
				t.Fatal(err)
			}
			if w.Code != c.code || int(status.Code) != c.code || status.Reason != c.reason ||
				w.Header().Get("Retry-After") != c.retry {
				t.Errorf("got %d %+v %v", w.Code, status, w.Header())
			}
			if status.Kind != "Status" || status.APIVersion != "v1" || status.Status != metav1.StatusFailure {
				t.Errorf("not a Status: %s", w.Body)
			}
			if strings.Contains(w.Body.String(), "secret") || w.Header().Get("Content-Encoding") != "" {
				t.Errorf("leaks: %s %v", w.Body, w.Header())
			}
		})
	}
}

func TestErrorInTheFormatAccepted(t *testing.T) {
	for accept, want := range map[string]string{
		"": `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
			`"message":"a\nb\u003c","reason":"BadRequest","code":400}` + "\n",
		"application/yaml": "apiVersion: v1\ncode: 400\nkind: Status\nmessage: |-\n  a\n  b<\nmetadata: {}\nreason: " +
			"BadRequest\nstatus: Failure\n",
		"text/html,application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io": `{"kind":"Status",` +
			`"apiVersion":"v1","metadata":{},"status":"Failure","message":"a\nb\u003c","reason":"BadRequest",` +
			`"code":400}` + "\n",
		"application/json;as=Table;v=v1;g=meta.k8s.io,*/*;q=0": `{"kind":"Status",` +
			`"apiVersion":"v1","metadata":{},"status":"Failure","message":"a\nb\u003c","reason":"BadRequest",` +
			`"code":400}` + "\n",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		Error(w, r, apierrors.NewBadRequest("a\nb<"))
		if w.Code != http.StatusBadRequest || w.Body.String() != want {
			t.Errorf("%q: %s", accept, w.Body)
		}
	}
}

func TestLongTextsAreShortened(t *testing.T) {
	huge := "begin " + strings.Repeat("\u20ac", 1<<20) + " end"
	widget := schema.GroupKind{Group: "shop.example.com", Kind: "Widget"}
	for name, err := range map[string]error{
		"message": apierrors.NewBadRequest(huge),
		"name":    apierrors.NewNotFound(schema.GroupResource{Resource: "widgets"}, huge),
		"value": apierrors.NewInvalid(widget, "a",
			field.ErrorList{field.Invalid(field.NewPath("spec"), huge, "is wrong")}),
		"path": apierrors.NewInvalid(widget, "a",
			field.ErrorList{field.Required(field.NewPath("spec").Key(huge), "is missing")}),
		"kind":  apierrors.NewInvalid(schema.GroupKind{Kind: huge}, "a", nil),
		"group": apierrors.NewNotFound(schema.GroupResource{Group: huge, Resource: huge}, "a"),
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			Error(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), err)
			var status metav1.Status
			if json.Unmarshal(w.Body.Bytes(), &status) != nil || w.Body.Len() > 8*maxText {
				t.Fatalf("%d bytes: %.100s", w.Body.Len(), w.Body)
			}
			if !strings.Contains(status.Message, "begin") || !strings.Contains(status.Message, "end") ||
				strings.ContainsRune(status.Message, utf8.RuneError) {
				t.Errorf("%.100q", status.Message)
			}
			var known apierrors.APIStatus
			if errors.As(err, &known) && strings.Count(fmt.Sprint(known.Status()), "\u20ac") < 1<<20 {
				t.Error("the error itself was changed")
			}
		})
	}
}

func TestShortTextsStay(t *testing.T) {
	text := strings.Repeat("x", maxText)
	if got := StatusOf(apierrors.NewBadRequest(text)); got.Message != text {
		t.Errorf("%d bytes of %d", len(got.Message), len(text))
	}
}
