package client

// Traffic is what a collector has done since it began, and in the last minute.
type Traffic struct {
	Seconds float64 `json:"seconds"` // since it began
	Events  Rate    `json:"events"`  // stored
	Records Rate    `json:"records"` // made or saved
	Calls   []Calls `json:"calls"`   // by endpoint, in the order of their names; recall is one beside them
}

// Rate is how much came.
type Rate struct {
	Total      int `json:"total"`
	LastMinute int `json:"last_minute"`
}

// Calls are the calls of one endpoint. How long they took is told to within the width of a histogram's bucket.
type Calls struct {
	Call     string  `json:"call"`
	N        int     `json:"n"`
	Failed   int     `json:"failed"` // answered with 500 or more
	MedianMS float64 `json:"median_ms"`
	P99MS    float64 `json:"p99_ms"`
}
