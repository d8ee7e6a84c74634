package v1

// SetDefaults_Book runs before the defaults of what is inside.
func SetDefaults_Book(in *Book) {
	if in.Spec.Author.Name == "" {
		in.Spec.Author.Name = in.Name
	}
	if in.Spec.Optional == nil && in.Name == "sparse" {
		in.Spec.Optional = &Optional{Title: "by function"}
	}
}

// SetDefaults_Author counts its calls where nobody has a name yet.
func SetDefaults_Author(in *Author) {
	if in.Name == "" {
		in.Name = "anonymous"
		in.Calls++
	}
}

// SetDefaults_Limits gives the map a first entry.
func SetDefaults_Limits(in *Limits) {
	if *in == nil {
		*in = Limits{"pages": 100}
	}
}

// SetDefaults_Covered does it all.
func SetDefaults_Covered(in *Covered) {
	if in.Text == "" {
		in.Text = "covered"
	}
}

// SetDefaults_Status runs first.
func SetDefaults_Status(in *Status) {
	if in.Order == nil {
		in.Order = []string{"base", in.Phase}
	}
}

// SetDefaults_Status_Later runs after SetDefaults_Status_Early.
func SetDefaults_Status_Later(in *Status) {
	if len(in.Order) == 3 {
		in.Order = append(in.Order, "later")
	}
}

// SetDefaults_Status_Early runs before SetDefaults_Status_Later.
func SetDefaults_Status_Early(in *Status) {
	if len(in.Order) == 2 {
		in.Order = append(in.Order, "early")
	}
}

// SetDefaults_Nothing is not a defaulting function: its parameter is not a pointer.
func SetDefaults_Nothing(Author) {}
