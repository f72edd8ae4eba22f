"""The tool that fetches a page of the public internet, and what keeps it from private networks."""
