package compat

import (
	"fmt"
	"regexp"
	"strings"
)

// Level tells how bad a difference is.
type Level uint8

// The levels.
const (
	// Info is an addition: nobody is hurt.
	Info Level = iota
	// Warn may hurt somebody, or be what was meant.
	Warn
	// Break breaks clients, or what is stored.
	Break
)

func (l Level) String() string { return [...]string{"info", "warn", "break"}[l] }

// MarshalText is the level's name.
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

// Area tells whom a difference concerns.
type Area string

// The areas.
const (
	// Wire: what clients send and receive.
	Wire Area = "wire"
	// Storage: objects that are stored.
	Storage Area = "storage"
	// Display: what people are shown.
	Display Area = "display"
)

// Rule is a row of the table.
type Rule struct {
	ID    string `json:"id"`
	Level Level  `json:"level"`
	Area  Area   `json:"area"`
	// Doc is one sentence: what the rule finds, and whom it hurts.
	Doc string `json:"-"`
}

type ruleID string

// The rules' IDs. They never change their meaning: allow files name them.
const (
	groupRemoved         ruleID = "GROUP_REMOVED"
	groupAdded           ruleID = "GROUP_ADDED"
	versionRemoved       ruleID = "VERSION_REMOVED"
	versionAdded         ruleID = "VERSION_ADDED"
	versionDeprecated    ruleID = "VERSION_DEPRECATED"
	preferredChanged     ruleID = "PREFERRED_VERSION_CHANGED"
	kindRemoved          ruleID = "KIND_REMOVED"
	kindAdded            ruleID = "KIND_ADDED"
	resourceRenamed      ruleID = "RESOURCE_RENAMED"
	scopeChanged         ruleID = "SCOPE_CHANGED"
	listKindChanged      ruleID = "LIST_KIND_CHANGED"
	shortNameRemoved     ruleID = "SHORT_NAME_REMOVED"
	categoryRemoved      ruleID = "CATEGORY_REMOVED"
	singularChanged      ruleID = "SINGULAR_CHANGED"
	subresourceRemoved   ruleID = "SUBRESOURCE_REMOVED"
	subresourceAdded     ruleID = "SUBRESOURCE_ADDED"
	createOnUpdateGone   ruleID = "CREATE_ON_UPDATE_REMOVED"
	versionRequired      ruleID = "RESOURCE_VERSION_REQUIRED"
	storedVersionDropped ruleID = "STORED_VERSION_DROPPED"
	storageRemoved       ruleID = "STORAGE_REMOVED"
	storageAdded         ruleID = "STORAGE_ADDED"
	verbRemoved          ruleID = "VERB_REMOVED"
	verbAdded            ruleID = "VERB_ADDED"
	deletionChanged      ruleID = "DELETION_ANSWER_CHANGED"
	storageChanged       ruleID = "STORAGE_VERSION_CHANGED"
	prefixChanged        ruleID = "STORAGE_PREFIX_CHANGED"
	selectableRemoved    ruleID = "SELECTABLE_FIELD_REMOVED"
	columnRemoved        ruleID = "COLUMN_REMOVED"
	columnChanged        ruleID = "COLUMN_CHANGED"
	fieldRemoved         ruleID = "FIELD_REMOVED"
	fieldRenamed         ruleID = "FIELD_RENAMED"
	fieldAdded           ruleID = "FIELD_ADDED"
	requiredAdded        ruleID = "REQUIRED_FIELD_ADDED"
	becameRequired       ruleID = "FIELD_BECAME_REQUIRED"
	becameOptional       ruleID = "FIELD_BECAME_OPTIONAL"
	typeChanged          ruleID = "TYPE_CHANGED"
	integerNarrowed      ruleID = "INTEGER_NARROWED"
	integerWidened       ruleID = "INTEGER_WIDENED"
	formatChanged        ruleID = "FORMAT_CHANGED"
	nullRefused          ruleID = "NULL_REFUSED"
	nullAllowed          ruleID = "NULL_ALLOWED"
	defaultChanged       ruleID = "DEFAULT_CHANGED"
	defaultRemoved       ruleID = "DEFAULT_REMOVED"
	defaultAdded         ruleID = "DEFAULT_ADDED"
	enumRemoved          ruleID = "ENUM_VALUE_REMOVED"
	enumAdded            ruleID = "ENUM_VALUE_ADDED"
	enumIntroduced       ruleID = "ENUM_INTRODUCED"
	enumLifted           ruleID = "ENUM_LIFTED"
	boundTightened       ruleID = "BOUND_TIGHTENED"
	patternChanged       ruleID = "PATTERN_CHANGED"
	validationAdded      ruleID = "VALIDATION_ADDED"
	immutableAdded       ruleID = "FIELD_BECAME_IMMUTABLE"
	listTypeChanged      ruleID = "LIST_TYPE_CHANGED"
	listKeysChanged      ruleID = "LIST_MAP_KEYS_CHANGED"
	mapTypeChanged       ruleID = "MAP_TYPE_CHANGED"
	patchChanged         ruleID = "PATCH_STRATEGY_CHANGED"
	unknownPruned        ruleID = "UNKNOWN_FIELDS_DROPPED"
)

// rules is THE table, in the order in which it is printed.
var rules = []Rule{
	{string(groupRemoved), Break, Wire, "an API group is gone: every request for it is answered 404"},
	{string(versionRemoved), Break, Wire, "a version of a kind is no longer served (a warning where it was marked " +
		"deprecated): its clients are answered 404"},
	{string(kindRemoved), Break, Wire, "a kind is gone in all versions"},
	{string(resourceRenamed), Break, Wire,
		"the plural name changed: it is the path that clients ask for, and the key of what is stored"},
	{string(scopeChanged), Break, Wire, "a kind moved into namespaces, or out of them: paths and keys change"},
	{string(listKindChanged), Break, Wire, "the kind of lists changed: typed clients don't decode them"},
	{string(subresourceRemoved), Break, Wire, "a subresource is gone: who writes it is answered 404"},
	{string(subresourceAdded), Warn, Wire,
		"a part of the object became a subresource: writes of the object itself no longer change it"},
	{string(createOnUpdateGone), Break, Wire, "a PUT no longer creates"},
	{string(versionRequired), Break, Wire, "a PUT without metadata.resourceVersion is refused"},
	{string(verbRemoved), Break, Wire, "a kind without storage lost a verb: who uses it is answered 405"},
	{string(deletionChanged), Warn, Wire,
		"a deletion answers with a Status where it answered with the object, or the other way round"},
	{string(selectableRemoved), Break, Wire, "a field selector is refused that was understood"},
	{string(fieldRemoved), Break, Wire,
		"a field is gone: what clients send in it is lost, what is stored in it can't be read"},
	{string(fieldRenamed), Break, Wire, "a field has another name in JSON"},
	{string(typeChanged), Break, Wire, "a value has another JSON type"},
	{string(integerNarrowed), Break, Wire, "a number has fewer bits"},
	{string(integerWidened), Warn, Wire, "a number has more bits than the types of old clients hold"},
	{string(formatChanged), Warn, Wire, "the format of a string or number changed"},
	{string(requiredAdded), Break, Wire, "a new field is required: what old clients send is refused"},
	{string(becameRequired), Break, Wire, "a field that could be left out can't be any more"},
	{string(becameOptional), Warn, Wire, "a field that was always there may be missing: readers may not expect that"},
	{string(nullRefused), Break, Wire, "null is no longer taken"},
	{string(nullAllowed), Warn, Wire, "readers may meet null"},
	{string(defaultChanged), Break, Wire, "what is left out means something else, for clients and for stored objects"},
	{string(defaultRemoved), Break, Wire, "what is left out is no longer filled in: readers may not expect that"},
	{string(defaultAdded), Warn, Wire, "what is left out is filled in"},
	{string(enumRemoved), Break, Wire, "a value is no longer taken"},
	{string(enumIntroduced), Break, Wire, "a field that took any value takes a few"},
	{string(enumAdded), Warn, Wire, "readers may meet a value that they don't know"},
	{string(enumLifted), Warn, Wire,
		"a field that took a few values takes any: readers may meet one that they don't know"},
	{string(boundTightened), Break, Wire, "a bound is narrower, or new: lengths, counts, minimum, maximum, multipleOf"},
	{string(patternChanged), Break, Wire,
		"a pattern is new or another: whether it takes all that was taken can't be told"},
	{string(immutableAdded), Break, Wire, "a field can no longer be changed"},
	{string(validationAdded), Break, Wire, "a rule is new or another: CEL, unions, formats, exclusions"},
	{string(listTypeChanged), Break, Wire,
		"a list is merged in another way by server-side apply: who owns what changes"},
	{string(listKeysChanged), Break, Wire, "the items of a list are told apart by other fields"},
	{string(mapTypeChanged), Break, Wire, "a map or struct is merged in another way by server-side apply"},
	{string(patchChanged), Break, Wire, "strategic merge patches are merged in another way"},
	{string(unknownPruned), Break, Wire, "unknown fields are dropped that were kept"},
	{string(storedVersionDropped), Break, Storage, "the version that objects are stored in doesn't exist any more: " +
		"they can't be read. Serve both for a release, and migrate"},
	{string(prefixChanged), Break, Storage, "objects are stored below another prefix of keys: those that there are " +
		"aren't found. Move them while no server runs"},
	{string(storageRemoved), Break, Storage, "a kind is stored no more (+apigen:storage=none): its objects can't be " +
		"reached, and all verbs but a provider's are answered 405"},
	{string(storageChanged), Warn, Storage,
		"objects are stored in another version from now on: servers of the old release must be able to read it"},
	{string(preferredChanged), Warn, Display, "clients that don't name a version get another one"},
	{string(shortNameRemoved), Warn, Display, "a short name is gone"},
	{string(categoryRemoved), Warn, Display, "a category is gone: kubectl get all shows less"},
	{string(singularChanged), Warn, Display, "the singular name changed"},
	{string(columnRemoved), Warn, Display, "a column of kubectl get is gone"},
	{string(columnChanged), Warn, Display, "a column of kubectl get has another type or shows another field"},
	{string(versionDeprecated), Info, Display, "a version is deprecated: its clients are warned"},
	{string(groupAdded), Info, Wire, "an API group is new"},
	{string(versionAdded), Info, Wire, "a version is new"},
	{string(kindAdded), Info, Wire, "a kind is new"},
	{string(verbAdded), Info, Wire, "a kind without storage has a verb more"},
	{string(storageAdded), Info, Storage, "objects of a kind that had no storage are stored"},
	{string(fieldAdded), Info, Wire, "an optional field is new"},
}

// Rules returns the table.
func Rules() []Rule { return append([]Rule(nil), rules...) }

// ruleOf returns a rule's row. TestTable holds that there is one.
func ruleOf(id ruleID) Rule {
	for _, r := range rules {
		if r.ID == string(id) {
			return r
		}
	}
	return Rule{ID: string(id), Level: Break}
}

// Reference is the table as text: ID, level, area, sentence.
func Reference() string {
	var out strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&out, "%-26s %-6s %-8s %s\n", r.ID, r.Level, r.Area, r.Doc)
	}
	return out.String()
}

var alphaPattern = regexp.MustCompile(`^v[0-9]+alpha[0-9]+$`)

// alpha tells a version that may change in any way at any time (Kubernetes' deprecation policy, rule 4).
func alpha(version string) bool { return alphaPattern.MatchString(version) }
