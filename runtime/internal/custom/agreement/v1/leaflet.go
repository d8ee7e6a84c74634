package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Leaflet has fields whose types are aliases with markers.
//
// +kubebuilder:object:root=true
type Leaflet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LeafletSpec `json:"spec"`
}

// LeafletSpec is the specification of a Leaflet.
type LeafletSpec struct {
	Grade LeafletGrade `json:"grade,omitempty"`
	// Label has a rule of its own beside those of the alias.
	// +kubebuilder:validation:MinLength=1
	Label  *LeafletLabel  `json:"label,omitempty"`
	Sizes  LeafletSizes   `json:"sizes,omitempty"`
	Format *LeafletFormat `json:"format,omitempty"`
	// +kubebuilder:validation:Format=ipv4
	Server string `json:"server,omitempty"`
	// +kubebuilder:validation:Format=hostname
	Host *string `json:"host,omitempty"`
	// +kubebuilder:validation:Format=duration
	Shown string `json:"shown,omitempty"`
	// +kubebuilder:validation:Format=byte
	Code string `json:"code,omitempty"`
	// Printed is when it was.
	// +kubebuilder:validation:Format=date-time
	Printed string `json:"printed,omitempty"`
	// +kubebuilder:validation:items:Format=ipv6
	Readers []string `json:"readers,omitempty"`
	// +kubebuilder:default={name: "cover", gloss: true}
	Cover LeafletCover `json:"cover,omitempty"`
	// +kubebuilder:default={name: "back"}
	Back    LeafletCover           `json:"back"`
	Pages   []LeafletPage          `json:"pages,omitempty"`
	Inserts map[string]LeafletPage `json:"inserts,omitempty"`
	// Notes are merged by strategic merge patches, but field ownership replaces them as a whole.
	Notes []LeafletNote `json:"notes,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Cards []LeafletCard `json:"cards,omitempty"`
	// +optional
	Tape LeafletTape `json:"tape,omitzero"`
}

// LeafletTape has the rule of a struct that it embeds by a pointer, also where an update sets it.
type LeafletTape struct {
	*LeafletEnds `json:",inline"`
	// +optional
	Wide uint8 `json:"wide,omitempty"`
}

// LeafletEnds must have a member.
//
// +kubebuilder:validation:AtLeastOneOf=left;right
type LeafletEnds struct {
	// +optional
	Left string `json:"left,omitempty"`
	// +optional
	Right string `json:"right,omitempty"`
}

// LeafletNote has a name.
type LeafletNote struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

// LeafletCard is a template with metadata.
type LeafletCard struct {
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Text              string `json:"text,omitempty"`
}

// LeafletCover has a default and a required field, and defaults of its own where it stands.
type LeafletCover struct {
	// +required
	Name string `json:"name"`
	// +kubebuilder:default=plain
	Paper string `json:"paper,omitempty"`
	Gloss bool   `json:"gloss,omitempty"`
	Folds *int32 `json:"folds,omitempty"`
}

// LeafletPage has a struct without a default inside.
type LeafletPage struct {
	// +kubebuilder:default={width: 2}
	Size LeafletSize `json:"size,omitempty"`
	Text string      `json:"text,omitempty"`
}

// LeafletSize is that of a page.
type LeafletSize struct {
	Width  int32 `json:"width,omitempty"`
	Height int32 `json:"height,omitempty"`
}

// LeafletGrade is how well it is printed.
//
// +kubebuilder:validation:Enum=1;2;3
// +default=2
type LeafletGrade = int32

// LeafletLabel stands below it.
//
// +kubebuilder:validation:MaxLength=2
type LeafletLabel = string

// LeafletSizes are the widths in which it is printed.
//
// +listType=set
// +kubebuilder:validation:MaxItems=2
type LeafletSizes = []int32

// LeafletFormat is a size that is small.
//
// +kubebuilder:validation:XValidation:rule="!has(self.width) || self.width < 3",message="a leaflet is narrow"
type LeafletFormat = Size
