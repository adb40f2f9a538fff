//! The verifier as a module for Python: a case with its sources goes in as JSON, an answer comes out as JSON.
//!
//! `python/volta/__init__.py` is what people import.

use pyo3::prelude::*;

#[pymodule]
mod _volta {
    use pyo3::exceptions::PyRuntimeError;
    use pyo3::prelude::*;

    /// Answers a document as `cargo volta check --stdin --format json` does: the object that it prints, as text, and the
    /// message for people. Other threads of Python go on meanwhile.
    #[pyfunction]
    fn answer(py: Python<'_>, document: String) -> PyResult<(String, String)> {
        let answer = py.detach(|| volta_test::cli::answer(document));
        answer
            .map(|answer| (answer.json, answer.message))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}
