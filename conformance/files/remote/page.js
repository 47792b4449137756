<!DOCTYPE html>
<html><body>busy</body></html>
