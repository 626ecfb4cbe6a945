package account

const (
	maxNames      = 16
	MaxNameLength = 200
	otherNames    = "…"
)

// NameCounts counts names without allocating for a name it has seen, and tells at most maxNames apart; the rest
// is one.
type NameCounts map[string]*int64

// Add counts a name once.
func (n NameCounts) Add(name []byte) {
	n.AddBytes(name, 1)
}

// AddBytes counts a name so many times.
func (n NameCounts) AddBytes(name []byte, times int64) {
	if len(name) > MaxNameLength {
		name = name[:MaxNameLength]
	}
	if count, ok := n[string(name)]; ok {
		*count += times
		return
	}
	n.AddTo(string(name), times)
}

// AddTo counts a name so many times.
func (n NameCounts) AddTo(name string, times int64) {
	if count, ok := n[name]; ok {
		*count += times
		return
	}
	told := len(n)
	if _, others := n[otherNames]; others {
		told--
	}
	if told >= maxNames && name != otherNames {
		n.AddTo(otherNames, times)
		return
	}
	n[name] = &times
}

// Merge adds the counts of others and returns their sum.
func (n NameCounts) Merge(others NameCounts) (sum int64) {
	for name, count := range others {
		n.AddTo(name, *count)
		sum += *count
	}
	return sum
}

// Plain is the counts by name.
func (n NameCounts) Plain() map[string]int64 {
	plain := make(map[string]int64, len(n))
	for name, count := range n {
		plain[name] = *count
	}
	return plain
}
