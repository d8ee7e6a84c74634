package compat

import (
	"fmt"
	"regexp"
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

// The rules. Their IDs never change their meaning: allow files name them.
var (
	groupRemoved   = Rule{"GROUP_REMOVED", Break, Wire, "an API group is gone: every request for it is answered 404"}
	versionRemoved = Rule{"VERSION_REMOVED", Break, Wire,
		"a version of a kind is no longer served (a warning where it was marked deprecated): its clients are " +
			"answered 404"}
	kindRemoved     = Rule{"KIND_REMOVED", Break, Wire, "a kind is gone in all versions"}
	resourceRenamed = Rule{"RESOURCE_RENAMED", Break, Wire,
		"the plural name changed: it is the path that clients ask for, and the key of what is stored"}
	scopeChanged = Rule{"SCOPE_CHANGED", Break, Wire,
		"a kind moved into namespaces, or out of them: paths and keys change"}
	listKindChanged = Rule{"LIST_KIND_CHANGED", Break, Wire,
		"the kind of lists changed: typed clients don't decode them"}
	subresourceRemoved = Rule{"SUBRESOURCE_REMOVED", Break, Wire,
		"a subresource is gone: requests for it are answered 404"}
	subresourceAdded = Rule{"SUBRESOURCE_ADDED", Warn, Wire,
		"a part of the object became a subresource: writes of the object itself no longer change it"}
	createOnUpdateGone = Rule{"CREATE_ON_UPDATE_REMOVED", Break, Wire, "a PUT no longer creates"}
	versionRequired    = Rule{"RESOURCE_VERSION_REQUIRED", Break, Wire,
		"a PUT without metadata.resourceVersion is refused"}
	verbRemoved = Rule{"VERB_REMOVED", Break, Wire,
		"a kind without storage lost a verb: its requests are answered 405"}
	deletionChanged = Rule{"DELETION_ANSWER_CHANGED", Warn, Wire,
		"a deletion answers with a Status where it answered with the object, or the other way round"}
	selectableRemoved = Rule{"SELECTABLE_FIELD_REMOVED", Break, Wire,
		"a field selector that was understood is refused"}
	fieldRemoved = Rule{"FIELD_REMOVED", Break, Wire,
		"a field is gone: values that clients send in it are lost, stored values can't be read"}
	fieldRenamed    = Rule{"FIELD_RENAMED", Break, Wire, "a field has another name in JSON"}
	typeChanged     = Rule{"TYPE_CHANGED", Break, Wire, "a value has another JSON type"}
	integerNarrowed = Rule{"INTEGER_NARROWED", Break, Wire, "a number has fewer bits"}
	integerWidened  = Rule{"INTEGER_WIDENED", Warn, Wire, "a number has more bits than the types of old clients hold"}
	formatChanged   = Rule{"FORMAT_CHANGED", Warn, Wire, "the format of a string or number changed"}
	requiredAdded   = Rule{"REQUIRED_FIELD_ADDED", Break, Wire,
		"a new field is required: what old clients send is refused"}
	becameRequired = Rule{"FIELD_BECAME_REQUIRED", Break, Wire, "a field that could be left out can't be any more"}
	becameOptional = Rule{"FIELD_BECAME_OPTIONAL", Warn, Wire,
		"a field that was always there may be missing: readers may not expect that"}
	nullRefused    = Rule{"NULL_REFUSED", Break, Wire, "null is no longer taken"}
	nullAllowed    = Rule{"NULL_ALLOWED", Warn, Wire, "readers may meet null"}
	defaultChanged = Rule{"DEFAULT_CHANGED", Break, Wire,
		"a missing value means something else, for clients and for stored objects"}
	defaultRemoved = Rule{"DEFAULT_REMOVED", Break, Wire,
		"a missing value is no longer filled in: readers may not expect that"}
	defaultAdded   = Rule{"DEFAULT_ADDED", Warn, Wire, "a missing value is filled in"}
	enumRemoved    = Rule{"ENUM_VALUE_REMOVED", Break, Wire, "a value is no longer taken"}
	enumIntroduced = Rule{"ENUM_INTRODUCED", Break, Wire, "a field that took any value takes a few"}
	enumAdded      = Rule{"ENUM_VALUE_ADDED", Warn, Wire, "readers may meet a value that they don't know"}
	enumLifted     = Rule{"ENUM_LIFTED", Warn, Wire,
		"a field that took a few values takes any: readers may meet one that they don't know"}
	boundTightened = Rule{"BOUND_TIGHTENED", Break, Wire,
		"a bound is narrower, or new: lengths, counts, minimum, maximum, multipleOf"}
	patternChanged = Rule{"PATTERN_CHANGED", Break, Wire,
		"a pattern is new or another: nobody can tell whether it takes all values that were taken"}
	immutableAdded  = Rule{"FIELD_BECAME_IMMUTABLE", Break, Wire, "a field can no longer be changed"}
	validationAdded = Rule{"VALIDATION_ADDED", Break, Wire,
		"a rule is new or another: CEL, unions, formats, exclusions"}
	listTypeChanged = Rule{"LIST_TYPE_CHANGED", Break, Wire,
		"server-side apply merges a list in another way: field ownership changes"}
	listKeysChanged = Rule{"LIST_MAP_KEYS_CHANGED", Break, Wire, "the items of a list are told apart by other fields"}
	mapTypeChanged  = Rule{"MAP_TYPE_CHANGED", Break, Wire,
		"server-side apply merges a map or struct in another way"}
	patchChanged = Rule{"PATCH_STRATEGY_CHANGED", Break, Wire,
		"strategic merge patches are merged in another way"}
	unknownPruned        = Rule{"UNKNOWN_FIELDS_DROPPED", Break, Wire, "unknown fields that were kept are dropped"}
	storedVersionDropped = Rule{"STORED_VERSION_DROPPED", Break, Storage,
		"the version that objects are stored in doesn't exist any more: they can't be read. Serve both for a " +
			"release, and migrate"}
	prefixChanged = Rule{"STORAGE_PREFIX_CHANGED", Break, Storage,
		"objects are stored below another prefix of keys: existing objects aren't found. Move them while no " +
			"server runs"}
	storageRemoved = Rule{"STORAGE_REMOVED", Break, Storage,
		"a kind is stored no more (+apigen:storage=none): its objects can't be reached, and all verbs but a " +
			"provider's are answered 405"}
	storageChanged = Rule{"STORAGE_VERSION_CHANGED", Warn, Storage,
		"objects are stored in another version from now on: servers of the old release must be able to read it"}
	preferredChanged = Rule{"PREFERRED_VERSION_CHANGED", Warn, Display,
		"clients that don't name a version get another one"}
	shortNameRemoved = Rule{"SHORT_NAME_REMOVED", Warn, Display, "a short name is gone"}
	categoryRemoved  = Rule{"CATEGORY_REMOVED", Warn, Display, "a category is gone: kubectl get all shows less"}
	singularChanged  = Rule{"SINGULAR_CHANGED", Warn, Display, "the singular name changed"}
	columnRemoved    = Rule{"COLUMN_REMOVED", Warn, Display, "a column of kubectl get is gone"}
	columnChanged    = Rule{"COLUMN_CHANGED", Warn, Display,
		"a column of kubectl get has another type or shows another field"}
	versionDeprecated = Rule{"VERSION_DEPRECATED", Info, Display, "a version is deprecated: its clients are warned"}
	groupAdded        = Rule{"GROUP_ADDED", Info, Wire, "an API group is new"}
	versionAdded      = Rule{"VERSION_ADDED", Info, Wire, "a version is new"}
	kindAdded         = Rule{"KIND_ADDED", Info, Wire, "a kind is new"}
	verbAdded         = Rule{"VERB_ADDED", Info, Wire, "a kind without storage has a verb more"}
	storageAdded      = Rule{"STORAGE_ADDED", Info, Storage, "objects of a kind that had no storage are stored"}
	fieldAdded        = Rule{"FIELD_ADDED", Info, Wire, "an optional field is new"}
)

// rules is the table, in the order in which it is printed.
var rules = []Rule{
	groupRemoved, versionRemoved, kindRemoved, resourceRenamed, scopeChanged, listKindChanged, subresourceRemoved,
	subresourceAdded, createOnUpdateGone, versionRequired, verbRemoved, deletionChanged, selectableRemoved,
	fieldRemoved, fieldRenamed, typeChanged, integerNarrowed, integerWidened, formatChanged, requiredAdded,
	becameRequired, becameOptional, nullRefused, nullAllowed, defaultChanged, defaultRemoved, defaultAdded,
	enumRemoved, enumIntroduced, enumAdded, enumLifted, boundTightened, patternChanged, immutableAdded,
	validationAdded, listTypeChanged, listKeysChanged, mapTypeChanged, patchChanged, unknownPruned,
	storedVersionDropped, prefixChanged, storageRemoved, storageChanged, preferredChanged, shortNameRemoved,
	categoryRemoved, singularChanged, columnRemoved, columnChanged, versionDeprecated, groupAdded, versionAdded,
	kindAdded, verbAdded, storageAdded, fieldAdded,
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
