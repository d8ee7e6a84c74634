package trial

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// element is an index of a list, or a key of a map as either of the two names it.
var element = regexp.MustCompile(`\[[^]]*\]|\.key-[ab]\b`)

// undecodable takes the place of the path for objects that can't be decoded.
const undecodable = "what it can't decode"

// unmarked are the causes for which a definition refuses what a Go type in Kubernetes' own style accepts: see Trial.
var unmarked = []metav1.CauseType{metav1.CauseTypeFieldValueRequired, metav1.CauseTypeFieldValueDuplicate}

// refusals returns the fields that only one of the two refuses. Native is as of a Trial.
func refusals(typedErr, customErr error, native bool) (out []string) {
	typed, custom := causes(typedErr), causes(customErr)
	if null := ofNull(customErr); len(null) > 0 && maps.Equal(null, ofNull(typedErr)) {
		return nil
	}
	if has(typed, undecodable) && customErr != nil || has(custom, undecodable) {
		return nil
	}
	for path := range typed {
		if !has(custom, path) {
			out = append(out, "only the type refuses "+path)
		}
	}
	for path, cause := range custom {
		if !has(typed, path) && !(native && slices.Contains(unmarked, cause)) {
			out = append(out, "only the definition refuses "+path)
		}
	}
	return out
}

// causes returns the paths of the fields for which an object is refused, without indexes and keys.
func causes(err error) map[string]metav1.CauseType {
	if err == nil {
		return nil
	}
	out := map[string]metav1.CauseType{}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return map[string]metav1.CauseType{undecodable: ""}
	}
	for _, cause := range status.Status().Details.Causes {
		path := element.ReplaceAllString(cause.Field, "[]")
		if !has(out, path) || slices.Contains(unmarked, out[path]) {
			out[path] = cause.Type
		}
	}
	return out
}

// ofNull returns the paths of fields for which an object is refused because they are null, as in an apply. What else it
// is refused for isn't compared then: a definition counts null as a member, and Go has none.
func ofNull(err error) map[string]bool {
	out := map[string]bool{}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			if strings.HasSuffix(cause.Message, `"null"`) {
				out[element.ReplaceAllString(cause.Field, "[]")] = true
			}
		}
	}
	return out
}

// compare returns the differences of two values of JSON at a path.
func compare(path string, typed, custom any) []string {
	switch typed := typed.(type) {
	case map[string]any:
		if custom, ok := custom.(map[string]any); ok {
			return compareMembers(path, typed, custom)
		}
	case []any:
		if custom, ok := custom.([]any); ok && len(typed) == len(custom) {
			var out []string
			for i := range typed {
				out = append(out, compare(path+"[]", typed[i], custom[i])...)
			}
			return out
		}
	}
	if reflect.DeepEqual(typed, custom) {
		return nil
	}
	const differs = "stored %s is %s by the type and %s by the definition"
	return []string{fmt.Sprintf(differs, path, text(typed), text(custom))}
}

func compareMembers(path string, typed, custom map[string]any) (out []string) {
	for name, value := range typed {
		at := member(path, name)
		if other, ok := custom[name]; ok {
			out = append(out, compare(at, value, other)...)
		} else {
			out = append(out, fmt.Sprintf("only the type stores %s", at))
		}
	}
	for name := range custom {
		if _, ok := typed[name]; !ok {
			out = append(out, fmt.Sprintf("only the definition stores %s", member(path, name)))
		}
	}
	return out
}

// finalizers is the end of the paths of finalizers in the metadata of templates.
const finalizers = ".metadata.finalizers"

// managers returns how the field sets of equal objects differ. Of kinds in Kubernetes' own style, the finalizers in the
// metadata of templates are a set, and a definition doesn't say so.
func managers(typed, custom []any, native bool) (out []string) {
	const equal = "of an equal object, "
	switch {
	case len(typed) > 0 && len(custom) == 0:
		return []string{equal + "only the type manages fields"}
	case len(typed) == 0 && len(custom) > 0:
		return []string{equal + "only the definition manages fields"}
	case len(typed) != len(custom):
		return []string{fmt.Sprintf(equal+"%d managers have fields of the type and %d of the definition",
			len(typed), len(custom))}
	}
	for i := range typed {
		compareSets("", typed[i].(map[string]any), custom[i].(map[string]any), func(who, path string) {
			if native && (strings.HasSuffix(path, finalizers+"[]") || strings.HasSuffix(path, finalizers+" itself")) {
				return
			}
			if difference := equal + "only " + who + " manages " + path; !slices.Contains(out, difference) {
				out = append(out, difference)
			}
		})
	}
	return out
}

// compareSets reports the paths that only one of two sets has, of which each shows the first.
func compareSets(path string, typed, custom map[string]any, report func(who, path string)) {
	for name, below := range typed {
		if other, ok := custom[name]; ok {
			compareSets(managedMember(path, name), below.(map[string]any), other.(map[string]any), report)
		} else {
			report("the type", managedMember(path, name))
		}
	}
	for name := range custom {
		if !has(typed, name) {
			report("the definition", managedMember(path, name))
		}
	}
}

// managedMember is the path of what a set of FieldsV1 calls f:field, k:{keys}, v:value, or a dot for the whole itself.
func managedMember(path, name string) string {
	kind, field, _ := strings.Cut(name, ":")
	switch kind {
	case ".":
		return path + " itself"
	case "f":
		return member(path, field)
	}
	return path + "[]"
}

func member(path, name string) string {
	return strings.TrimPrefix(element.ReplaceAllString(path+"."+name, "[]"), ".")
}

func text(v any) string {
	var out bytes.Buffer
	_ = json.NewEncoder(&out).Encode(v) // it was decoded from JSON
	return string(bytes.TrimSpace(out.Bytes()))
}
