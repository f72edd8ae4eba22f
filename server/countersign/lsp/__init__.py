"""Joins the rooms to an editor. Nobody imports it."""
