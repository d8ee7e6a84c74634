package compat

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Level is the severity of a difference.
type Level uint8

// The levels.
const (
	// Info is an addition that breaks no client.
	Info Level = iota
	// Warn may break a client, or be intended.
	Warn
	// Break breaks clients or makes stored objects unreadable.
	Break
)

func (l Level) String() string { return [...]string{"info", "warn", "break"}[l] }

// MarshalText returns the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// ParseLevel reads a level's name.
func ParseLevel(s string) (Level, error) {
	for l := Info; l <= Break; l++ {
		if l.String() == s {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown level %q: known are break, warn, info", s)
}

// Area is the part of the system that a difference affects.
type Area string

// The areas.
const (
	// Wire: requests and responses of clients.
	Wire Area = "wire"
	// Storage: stored objects.
	Storage Area = "storage"
	// Display: output for people.
	Display Area = "display"
)

// Rule is a row of the table.
type Rule struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
	Area  Area   `json:"area"`
	// Doc is one sentence: the difference that the rule finds, and its consequence.
	Doc string `json:"-"`
}

// The rules, in the order in which they are printed. Their IDs never change their meaning: allow files name them.
var rules = []Rule{
	{"GROUP_REMOVED", Break, Wire, "an API group is gone: every request for it is answered 404"},
	{"VERSION_REMOVED", Break, Wire,
		"a version of a kind is no longer served (a warning where it was marked deprecated): its clients are " +
			"answered 404"},
	{"KIND_REMOVED", Break, Wire, "a kind is gone in all versions"},
	{"RESOURCE_RENAMED", Break, Wire,
		"the plural name changed: it is the path that clients ask for, and the key of what is stored"},
	{"SCOPE_CHANGED", Break, Wire, "a kind moved into namespaces, or out of them: paths and keys change"},
	{"LIST_KIND_CHANGED", Break, Wire, "the kind of lists changed: typed clients don't decode them"},
	{"SUBRESOURCE_REMOVED", Break, Wire, "a subresource is gone: requests for it are answered 404"},
	{"SUBRESOURCE_ADDED", Warn, Wire,
		"a part of the object became a subresource: writes of the object itself no longer change it"},
	{"SUBRESOURCE_PART_REMOVED", Break, Wire,
		"a subresource no longer changes a part of the object: what clients send there is ignored"},
	{"SUBRESOURCE_METHOD_REMOVED", Break, Wire, "a subresource lost an HTTP method: its requests are answered 405"},
	{"CREATE_ON_UPDATE_REMOVED", Break, Wire, "a PUT no longer creates"},
	{"RESOURCE_VERSION_REQUIRED", Break, Wire, "a PUT without metadata.resourceVersion is refused"},
	{"VERB_REMOVED", Break, Wire, "a kind lost a verb: its requests are answered 405"},
	{"DELETION_ANSWER_CHANGED", Warn, Wire,
		"a deletion answers with a Status where it answered with the object, or the other way round"},
	{"NAME_RULE_CHANGED", Break, Wire,
		"the names of objects follow another rule: nobody can tell whether it takes all names that were taken"},
	{"SELECTABLE_FIELD_REMOVED", Break, Wire, "a field selector that was understood is refused"},
	{"FIELD_REMOVED", Break, Wire,
		"a field is gone: values that clients send in it are lost, stored values can't be read"},
	{"FIELD_RENAMED", Break, Wire, "a field has another name in JSON"},
	{"TYPE_CHANGED", Break, Wire, "a value has another JSON type"},
	{"INTEGER_NARROWED", Break, Wire, "a number has fewer bits"},
	{"INTEGER_WIDENED", Warn, Wire, "a number has more bits than the types of old clients hold"},
	{"FORMAT_CHANGED", Warn, Wire, "the format of a string or number changed"},
	{"REQUIRED_FIELD_ADDED", Break, Wire, "a new field is required: what old clients send is refused"},
	{"FIELD_BECAME_REQUIRED", Break, Wire, "a field that could be left out can't be any more"},
	{"FIELD_BECAME_OPTIONAL", Warn, Wire, "a field that was always there may be missing: readers may not expect that"},
	{"NULL_REFUSED", Break, Wire, "null is no longer taken"},
	{"NULL_ALLOWED", Warn, Wire, "readers may meet null"},
	{"DEFAULT_CHANGED", Break, Wire, "a missing value means something else, for clients and for stored objects"},
	{"DEFAULT_REMOVED", Break, Wire, "a missing value is no longer filled in: readers may not expect that"},
	{"DEFAULT_ADDED", Warn, Wire, "a missing value is filled in"},
	{"ENUM_VALUE_REMOVED", Break, Wire, "a value is no longer taken"},
	{"ENUM_INTRODUCED", Break, Wire, "a field that took any value takes a few"},
	{"ENUM_VALUE_ADDED", Warn, Wire, "readers may meet a value that they don't know"},
	{"ENUM_LIFTED", Warn, Wire, "a field that took a few values takes any: readers may meet one that they don't know"},
	{"BOUND_TIGHTENED", Break, Wire, "a bound is narrower, or new: lengths, counts, minimum, maximum, multipleOf"},
	{"PATTERN_CHANGED", Break, Wire,
		"a pattern is new or another: nobody can tell whether it takes all values that were taken"},
	{"FIELD_BECAME_IMMUTABLE", Break, Wire, "a field can no longer be changed"},
	{"VALIDATION_ADDED", Break, Wire, "a rule is new or another: CEL, unions, formats, exclusions"},
	{"LIST_TYPE_CHANGED", Break, Wire, "server-side apply merges a list in another way: field ownership changes"},
	{"LIST_MAP_KEYS_CHANGED", Break, Wire, "the items of a list are told apart by other fields"},
	{"MAP_TYPE_CHANGED", Break, Wire, "server-side apply merges a map or struct in another way"},
	{"PATCH_STRATEGY_CHANGED", Break, Wire, "strategic merge patches are merged in another way"},
	{"UNKNOWN_FIELDS_DROPPED", Break, Wire, "unknown fields that were kept are dropped"},
	{"STORED_VERSION_DROPPED", Break, Storage,
		"the version that objects are stored in doesn't exist any more: they can't be read. Serve both for a " +
			"release, and migrate"},
	{"STORAGE_PREFIX_CHANGED", Break, Storage,
		"objects are stored below another prefix of keys: existing objects aren't found. Move them while no " +
			"server runs"},
	{"STORAGE_REMOVED", Break, Storage,
		"a kind is stored no more (+apigen:storage=none): its objects can't be reached, and all verbs but a " +
			"provider's are answered 405"},
	{"STORAGE_VERSION_CHANGED", Warn, Storage,
		"objects are stored in another version from now on: servers of the old release must be able to read it"},
	{"PREFERRED_VERSION_CHANGED", Warn, Display, "clients that don't name a version get another one"},
	{"SHORT_NAME_REMOVED", Warn, Display, "a short name is gone"},
	{"CATEGORY_REMOVED", Warn, Display, "a category is gone: kubectl get all shows less"},
	{"SINGULAR_CHANGED", Warn, Display, "the singular name changed"},
	{"COLUMN_REMOVED", Warn, Display, "a column of kubectl get is gone"},
	{"COLUMN_CHANGED", Warn, Display, "a column of kubectl get has another type or shows another field"},
	{"VERSION_DEPRECATED", Info, Display, "a version is deprecated: its clients are warned"},
	{"GROUP_ADDED", Info, Wire, "an API group is new"},
	{"VERSION_ADDED", Info, Wire, "a version is new"},
	{"KIND_ADDED", Info, Wire, "a kind is new"},
	{"VERB_ADDED", Info, Wire, "a kind has a verb more"},
	{"STORAGE_ADDED", Info, Storage, "objects of a kind that had no storage are stored"},
	{"FIELD_ADDED", Info, Wire, "an optional field is new"},
}

func ruleOf(id string) Rule {
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		panic("compat has no rule " + id) // a misspelt ID in this package
	}
	return rules[i]
}

// Rules returns the table.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// Reference is the table as text: ID, level, area, sentence.
func Reference() string {
	var out strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&out, "%-26s %-6s %-8s %s\n", r.ID, r.Level, r.Area, r.Doc)
	}
	return out.String()
}

var alphaPattern = regexp.MustCompile(`^v[0-9]+alpha[0-9]+$`)

// alpha reports whether a version may change in any way at any time (Kubernetes' deprecation policy, rule 4).
func alpha(version string) bool { return alphaPattern.MatchString(version) }
