package load

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

var versionPattern = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// isVersion tells whether a name looks like an API version: v1, v2beta1.
func isVersion(name string) bool { return versionPattern.MatchString(name) }

// compareVersions orders versions by Kubernetes' priority, highest first: v2, v1, v2beta1, v1alpha1.
func compareVersions(a, b string) int {
	x, y := versionPattern.FindStringSubmatch(a), versionPattern.FindStringSubmatch(b)
	if x == nil || y == nil {
		return cmp.Or(cmp.Compare(len(y), len(x)), cmp.Compare(a, b))
	}
	rank := map[string]int{"": 0, "beta": 1, "alpha": 2}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n }
	return cmp.Or(
		cmp.Compare(rank[x[2]], rank[y[2]]),
		cmp.Compare(number(y[1]), number(x[1])),
		cmp.Compare(number(y[3]), number(x[3])),
	)
}

// goName is a group's name in Go: Shop for shop.example.com.
func goName(group string) string {
	label, _, _ := strings.Cut(group, ".")
	var out strings.Builder
	up := true
	for _, r := range label {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' && out.Len() > 0 {
			if up {
				out.WriteString(strings.ToUpper(string(r)))
			} else {
				out.WriteRune(r)
			}
			up = false
		} else {
			up = true
		}
	}
	if out.Len() == 0 {
		return "Core"
	}
	return out.String()
}
