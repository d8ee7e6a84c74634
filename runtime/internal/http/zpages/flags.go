package zpages

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type flagz struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Flags             map[string]string `json:"flags,omitempty"`
}

// Flags returns the page /flagz, which has the values of flags.
func Flags(flags map[string]string) http.Handler {
	return page{
		kind: "Flagz",
		text: func() string {
			var b strings.Builder
			for _, name := range slices.Sorted(maps.Keys(flags)) {
				b.WriteString(name + "=" + flags[name] + "\n")
			}
			return b.String()
		},
		object: func(t metav1.TypeMeta) any {
			return flagz{TypeMeta: t, ObjectMeta: metav1.ObjectMeta{Name: component}, Flags: flags}
		},
	}
}
