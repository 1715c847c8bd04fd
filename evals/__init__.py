"""Questions with known answers, and what is measured with them. Used by people and by CI; the engine never imports it."""
